import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, isKlinesError, KlinesError } from '../candles/errors.js'
import { noMinutes, parseInterval } from '../candles/intervals.js'
import { suggest } from '../candles/suggest.js'
import { parseSymbol } from '../candles/symbols.js'
import { exportIn } from '../engine/export.js'
import { StreamOutput } from '../engine/output-stream.js'
import type { DownloadReport } from '../engine/report.js'
import { mirrorRun, type Run } from '../engine/run.js'
import { CANDLE_ENTRIES, type Format, OUTPUT_ENTRIES, parseValue, resolveFormat } from '../options.js'
import { shortSentences } from '../rows/coverage.js'
import { cleanText } from '../sources/fetch-error.js'
import { leavingSignal, type Route } from './body.js'
import { CORS_HEADERS, HttpError, quotable } from './errors.js'
import { isFromOtherSite } from './hosts.js'
import type { Tree } from './tree.js'

/** Exports at the same time. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4

export const MEDIA: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
}
export const GZIP_TYPE = 'application/gzip'

export const QUERY = [...CANDLE_ENTRIES, ...OUTPUT_ENTRIES]
const QUERY_NAMES: readonly string[] = QUERY.map(({ flag }) => flag)

/** The export of a series. `warn`: hears of exports that were cut. */
export function exportRoutes(tree: Tree, warn: (warning: string) => void): Route[] {
  let running = 0
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const signal = leavingSignal(request, reply)
    try {
      const wanted = parseRequest(request)
      if (running === EXPORTS_AT_ONCE) {
        const message = `This server sends ${EXPORTS_AT_ONCE} exports at once. Try again in a few seconds.`
        throw new HttpError(503, message, { headers: { 'retry-after': '3' } })
      }
      running++
      await sendExport(wanted, tree, reply, signal, warn).finally(() => running--)
    } catch (error) {
      const failure = toExportError(error, tree.mirror.root)
      // The client has left, or has the head that HEAD asks for.
      if (signal.aborted || reply.raw.writableEnded) reply.hijack()
      else if (!reply.raw.headersSent) throw failure
      else warn(`The response to ${request.method} ${cleanText(request.url, 200)} was cut: ${failure.message}`)
    }
  }
  return [{ method: 'GET', url: '/export/:interval/:file', handler }]
}

/** Throws errors for names that cannot be a symbol, an interval or an extension, and what `parseQuery` throws. */
function parseRequest({ params, query }: FastifyRequest) {
  const { file, ...path } = params as { interval: string; file: string }
  const [, name = file, extension = ''] = /^([^.]*)\.([\w.]*)$/.exec(file) ?? []
  const [symbol, interval] = [parseSymbol(name), parseInterval(path.interval)]
  const { format, gzip } = resolveFormat(file, undefined)
  const options = parseQuery(query as Record<string, unknown>)
  const request = { ...options, symbols: [symbol], intervals: [interval], output: `${symbol}.${extension}` }
  return { interval, request, extension, type: gzip ? GZIP_TYPE : MEDIA[format] }
}

/** Throws `HttpError` 400 with every parameter that is unknown or repeated, and `bad_option` for the first invalid value. */
function parseQuery(query: Readonly<Record<string, unknown>>) {
  const names = Object.keys(query)
  const unknown = names.filter(name => !QUERY_NAMES.includes(name))
  const faults = [
    ...unknown.map(field => ({ field, message: 'is unknown' })),
    ...names.filter(name => Array.isArray(query[name])).map(field => ({ field, message: 'is given more than once' })),
  ]
  if (faults.length > 0) {
    const near = unknown.flatMap(name => suggest(name, QUERY_NAMES) ?? [])
    const advice = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
    const text = faults.map(({ field, message }) => `"${field.slice(0, 40)}" ${message}`).join(', ')
    const message = `The query parameter ${text}. Expected some of ${QUERY_NAMES.join(', ')}.${advice}`
    throw new HttpError(400, message, { cause: faults })
  }
  const given = QUERY.filter(({ flag }) => names.includes(flag))
  return Object.fromEntries(
    given.map(({ name, flag, option }) => [name, parseValue(name, option, String(query[flag]))]),
  )
}

/** Checks all windows before the first byte. Throws `HttpError`, `KlinesError`, and the signal's reason when the client leaves. */
async function sendExport(
  { interval, type, extension, request }: ReturnType<typeof parseRequest>,
  { mirror, now, upstream }: Tree,
  reply: FastifyReply,
  signal: AbortSignal,
  warn: (warning: string) => void,
): Promise<void> {
  const sink = ({ series, range }: DownloadReport) => {
    const [{ symbol, coverage }] = series
    const short = shortSentences(series, range).map(text => `299 klines "${quotable(text)}"`)
    const headers = {
      'content-type': type,
      'content-disposition': contentDisposition(symbol, `-${coverage.interval}.${extension}`),
      'cache-control': 'no-cache',
      'accept-ranges': 'none',
      'x-content-type-options': 'nosniff',
      ...CORS_HEADERS,
      ...(short.length > 0 && { warning: short.join(', ') }),
    }
    return new ResponseOutput(reply, headers, signal)
  }
  const write = (run: Run) => exportIn(run, { ...request, signal }, { sink })
  signal.throwIfAborted()
  if (upstream && !isFromOtherSite(reply.request.raw)) await upstream.use(run => write({ ...run, signal, warn }))
  else if (mirror.intervals.includes(interval)) await write(mirrorRun(mirror, { now, signal, warn }))
  else throw new HttpError(404, noMinutes(interval, 'This server').message)
}

/** The body of a response. Its first bytes send the head, so that a failure before them still gets an error response. */
class ResponseOutput extends StreamOutput {
  constructor(
    private readonly reply: FastifyReply,
    private readonly headers: Record<string, string>,
    signal: AbortSignal,
  ) {
    super(reply.raw, 'the response', signal)
  }

  override async write(chunk: Uint8Array): Promise<void> {
    const { raw, request } = this.reply
    if (!raw.headersSent) this.reply.hijack().raw.writeHead(200, this.headers)
    if (request.method !== 'HEAD') return super.write(chunk)
    raw.end()
    throw new Error('The head is all that HEAD needs.')
  }

  /** A reset: a client must not take a part for the whole file, and in HTTP/1.0 the end of the connection is that of the file. */
  override async discard(): Promise<void> {
    const { raw } = this.reply
    if (raw.headersSent && !raw.writableEnded) raw.socket?.resetAndDestroy()
  }
}

/** RFC 6266: a name with other characters than ASCII has a form of its own, and one for clients that do not know that. */
function contentDisposition(symbol: string, ending: string): string {
  if (/^[ -~]+$/.test(symbol)) return `attachment; filename="${symbol}${ending}"`
  return `attachment; filename="candles${ending}"; filename*=UTF-8''${encodeURIComponent(symbol + ending)}`
}

/** The statuses of errors that a client can do something about; any other is an internal error. */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  ...{ bad_time: 400, bad_range: 400, bad_option: 400 },
  // `bad_output`: the extension.
  ...{ unknown_symbol: 404, unknown_interval: 404, no_candles: 404, bad_output: 404 },
  // What the mirror has is not enough, or does not fit the requested form.
  ...{ window_missing: 409, incomplete: 409, digits_lost: 409 },
}

/** An error of the library as `HttpError`, with the windows that it names as its cause; any other unchanged. No client sees `root`. */
function toExportError(error: unknown, root: string): Error {
  if (!(error instanceof KlinesError)) return error as Error
  const { code, cause, message, suggestions } = error
  const statusCode = cause instanceof HttpError ? cause.statusCode : STATUSES[code]
  if (statusCode === undefined) return error
  const hide = (text: string) => text.replaceAll(`the mirror ${root}`, 'this server').replaceAll(`${root}/`, '')
  const failures = isKlinesError(error, 'incomplete') ? error.data.failures : undefined
  const windows = failures?.map(({ reason, ...window }) => ({ ...window, message: hide(reason) }))
  const [line, ...more] = message.split('\n')
  // An address has no option for the format.
  const advice = code === 'bad_output' ? [] : suggestions
  const sentences = [more.length === 0 ? line : `${line} ${more.join('; ')}.`, ...advice].join(' ')
  // Its own text names folders of this machine.
  const text = code === 'window_missing' ? 'The mirror has no candles of this series.' : sentences
  return new HttpError(statusCode, hide(text), { cause: windows })
}
