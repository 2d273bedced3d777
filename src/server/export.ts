import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { type ErrorCode, isKlinesError, KlinesError } from '../candles/errors.js'
import { parseInterval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { suggest } from '../candles/suggest.js'
import { parseSymbol } from '../candles/symbols.js'
import { shortSentences } from '../engine/coverage.js'
import { checkExcerpt, type ExportRequest, exportIn } from '../engine/export.js'
import { noMinutes } from '../engine/lists.js'
import { StreamOutput } from '../engine/output-stream.js'
import type { DownloadReport } from '../engine/report.js'
import { mirrorRun, type Run } from '../engine/run.js'
import { parseRowFormat } from '../formats/row-format.js'
import { API_SPECS } from '../greeting/client.js'
import { CANDLE_ENTRIES, FORMATS, type Format, isBinary, type Option, OUTPUT_ENTRIES, parseValue } from '../options.js'
import { parseTargetInterval } from '../rows/target-interval.js'
import { cleanText } from '../sources/fetch-error.js'
import { CORS_HEADERS, HttpError } from './errors.js'
import { isFromOtherSite } from './hosts.js'
import type { Api } from './openapi.js'
import type { Tree } from './tree.js'
import { intervalSchema, quotable, symbolSchema } from './tree-api.js'

/** Exports at the same time. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4

/** How each format is sent. */
const MEDIA: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
}
const GZIP_TYPE = 'application/gzip'

/** The extensions of exported files: each format, and text formats also compressed. */
const EXTENSIONS = FORMATS.flatMap(format => (isBinary(format) ? [format] : [format, `${format}.gz`]))

/** The options that the query has. */
const ENTRIES = [...CANDLE_ENTRIES, ...OUTPUT_ENTRIES]
const QUERY_NAMES: readonly string[] = ENTRIES.map(({ flag }) => flag)

/** The export of a series. `warn`: hears of exports that were cut. */
export function exportApi(tree: Tree, warn: (warning: string) => void): Api {
  let running = 0
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const left = new AbortController()
    // A response that is queued behind another one gets no 'close' event; its request does.
    for (const side of [request.raw, reply.raw]) side.on('close', () => left.abort())
    const parameters = parseParameters(request)
    if (running === EXPORTS_AT_ONCE) {
      const message = `This server sends ${EXPORTS_AT_ONCE} exports at once. Try again in a few seconds.`
      throw new HttpError(503, message, { headers: { 'retry-after': '3' } })
    }
    running++
    try {
      await sendExport(parameters, tree, request, reply, left.signal, warn)
    } catch (error) {
      const isOver = left.signal.aborted || reply.raw.writableEnded
      const failure = toExportError(error, undefined, tree.mirror.root)
      // The client has left, or has the head that HEAD asks for.
      if (isOver) reply.hijack()
      else if (!reply.raw.headersSent) throw failure
      else warn(`The response to ${request.method} ${cleanText(request.url, 200)} was cut: ${failure.message}`)
    } finally {
      running--
    }
  }
  return {
    info: {
      title: 'klines export API',
      version: '1.0.0',
      description:
        'The candles of a series as one file: CSV, JSON, JSON Lines, Parquet or Arrow, with the range, columns ' +
        'and interval that the query names. All times are UTC.',
    },
    tags: { export: 'Files of candles', meta: 'This description' },
    spec: { path: API_SPECS.export, tag: 'meta' },
    routes: [{ method: 'GET', url: '/export/:interval/:file', handler }],
    operations: () => [
      {
        method: 'get',
        path: '/export/{interval}/{symbol}.{extension}',
        operationId: 'exportCandles',
        summary: 'The candles of a series as one file',
        description:
          'The bytes that klines export writes. Every window is checked before the first byte; a connection that is cut means that ' +
          'the file is not whole. A Warning header says what the series lacks at an end of the range that was named.',
        tag: 'export',
        params: Type.Object({
          interval: intervalSchema(tree.mirror.intervals),
          symbol: symbolSchema(tree.mirror),
          extension: Type.Enum([...EXTENSIONS], {
            type: 'string',
            description: 'Format of the file',
            examples: ['csv'],
          }),
        }),
        // The examples fit together.
        query: Type.Object(
          Object.fromEntries(ENTRIES.map(({ flag, option }) => [flag, Type.Optional(toSchema(option))])),
        ),
        response: {
          description: 'The file, as an attachment',
          content: Object.fromEntries(
            [...Object.values(MEDIA), GZIP_TYPE].map(type => [type.split(';')[0], Type.Unsafe({})]),
          ),
        },
        errors: {
          400: 'A parameter of the query is unknown, repeated or invalid',
          404: 'There is no such symbol, interval or extension, or no candle in the range',
          409: 'A window of the range is missing or corrupt: cause names each. Or a decimal does not fit numbers=decimal',
          502: 'The service behind this server failed: cause names the windows',
          503: 'Too many exports are being sent, or the service behind this server limits requests: see Retry-After',
          504: 'The service behind this server did not answer in time: cause names the windows',
        },
      },
    ],
  }
}

/** An option of the query, from the table of options; what uses the values checks them. */
function toSchema({ takes, values = [], summary, example }: Option): TSchema {
  const details = { description: summary, ...(example === undefined ? {} : { examples: [example] }) }
  if (takes === 'choice') return Type.Enum([...values], { type: 'string', ...details })
  if (takes === 'number') return Type.Integer(details)
  return takes === 'switch' ? Type.Boolean(details) : Type.String(details)
}

/** What a request for an export asks, checked as far as that needs no mirror. */
interface ExportParameters {
  readonly series: Series
  readonly format: Format
  readonly extension: string
  readonly query: Omit<ExportRequest, 'symbols' | 'intervals' | 'output'>
}

/**
 * Parses the path and the query of a request. Throws `HttpError`: 404 for a name that cannot be a symbol, an interval or an
 * extension, with the nearest one; 400 for a parameter that is unknown, repeated or invalid.
 */
function parseParameters({ params, query }: FastifyRequest): ExportParameters {
  let status = 404
  try {
    const { interval, file } = params as { interval: string; file: string }
    const [, name = file, extension = ''] = /^([^.]*)\.(.*)$/s.exec(file) ?? []
    const series = { symbol: parseSymbol(name), interval: parseInterval(interval) }
    const format = parseExtension(extension)
    status = 400
    const options = parseQuery(query as Record<string, unknown>)
    checkExcerpt(options)
    parseRowFormat(options, format)
    if (options.resample !== undefined) parseTargetInterval(options.resample)
    return { series, format, extension, query: options }
  } catch (error) {
    throw toExportError(error, status)
  }
}

function parseExtension(extension: string): Format {
  if (EXTENSIONS.includes(extension)) return extension.replace(/\.gz$/, '') as Format
  const near = suggest(extension, EXTENSIONS)
  throw new KlinesError('bad_output', `Unknown extension "${extension}". Expected one of ${EXTENSIONS.join(', ')}.`, {
    suggestions: near ? [`Did you mean ${near}?`] : [],
  })
}

function parseQuery(query: Readonly<Record<string, unknown>>): ExportParameters['query'] {
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
  const given = ENTRIES.filter(({ flag }) => names.includes(flag))
  return Object.fromEntries(
    given.map(({ name, flag, option }) => [name, parseValue(name, option, String(query[flag]))]),
  )
}

/** Checks all windows before the first byte. Throws `HttpError`, `KlinesError`, and the signal's reason when the client leaves. */
async function sendExport(
  { series: { symbol, interval }, format, extension, query }: ExportParameters,
  { mirror, now, upstream }: Tree,
  { raw }: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
  warn: (warning: string) => void,
): Promise<void> {
  const request = { ...query, symbols: [symbol], intervals: [interval], signal, output: `${symbol}.${extension}` }
  const sink = ({ series, range }: DownloadReport) => {
    const short = shortSentences(series, range).map(text => `299 klines "${quotable(text)}"`)
    const headers = {
      'content-type': extension.endsWith('.gz') ? GZIP_TYPE : MEDIA[format],
      'content-disposition': contentDisposition(symbol, `-${series[0].coverage.interval}.${extension}`),
      'cache-control': 'no-cache',
      'accept-ranges': 'none',
      'x-content-type-options': 'nosniff',
      ...CORS_HEADERS,
      ...(short.length > 0 && { warning: short.join(', ') }),
    }
    return new ResponseOutput(reply, headers, signal)
  }
  const write = (run: Run) => exportIn(run, request, { sink })
  signal.throwIfAborted()
  if (upstream && !isFromOtherSite(raw)) await upstream.use(run => write({ ...run, signal, warn }))
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
const STATUSES: readonly [number, readonly ErrorCode[]][] = [
  [400, ['bad_time', 'bad_range', 'bad_option', 'bad_output']],
  [404, ['unknown_symbol', 'unknown_interval', 'no_candles']],
  // What the mirror has is not enough, or does not fit the requested form.
  [409, ['window_missing', 'incomplete', 'digits_lost']],
]

/**
 * Converts an error of the library to an `HttpError`, and the windows that it names to its cause; returns any other error unchanged.
 * `status`: instead of the usual one; `root`: the folder of the mirror, which no client sees.
 */
function toExportError(error: unknown, status?: number, root = ''): Error {
  if (!(error instanceof KlinesError)) return error as Error
  const { code, cause, message, suggestions } = error
  const statusCode =
    status ?? (cause instanceof HttpError ? cause.statusCode : STATUSES.find(([, codes]) => codes.includes(code))?.[0])
  if (statusCode === undefined) return error
  const hide = (text: string) => {
    return root ? text.replaceAll(`the mirror ${root}`, 'this server').replaceAll(`${root}/`, '') : text
  }
  const failures = isKlinesError(error, 'incomplete') ? error.data.failures : undefined
  const windows = failures?.map(({ reason, ...window }) => ({ ...window, message: hide(reason) }))
  const [line, ...more] = message.split('\n')
  const sentences = [more.length === 0 ? line : `${line} ${more.join('; ')}.`, ...suggestions].join(' ')
  // Its own text names folders of this machine.
  const text = code === 'window_missing' ? 'The mirror has no candles of this series.' : sentences
  return new HttpError(statusCode, hide(text), { cause: windows })
}
