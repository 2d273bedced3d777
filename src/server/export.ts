import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, isKlinesError, KlinesError } from '../candles/errors.js'
import { parseInterval } from '../candles/intervals.js'
import { parseSymbol } from '../candles/symbols.js'
import { CANDLE_ENTRIES, type Format, OUTPUT_ENTRIES, parseValue, resolveFormat } from '../options.js'
import { leavingSignal, type Route, sendFile } from './body.js'
import { HttpError, quotable } from './errors.js'
import type { ExportFile, ExportFiles, WantedExport } from './export-files.js'
import { isFromOtherSite } from './hosts.js'
import type { Tree } from './tree.js'

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

export function exportRoutes({ mirror }: Tree, files: ExportFiles): Route[] {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const signal = leavingSignal(request, reply)
    try {
      const { type, ...wanted } = parseRequest(request)
      const file = await files.get(wanted, signal)
      signal.throwIfAborted()
      return sendFile(request, reply, file, { 'content-type': type, ...exportHeaders(wanted, file) })
    } catch (error) {
      // Nobody reads the answer.
      if (signal.aborted) return reply.hijack()
      throw toExportError(error, mirror.root)
    }
  }
  return [{ method: 'GET', url: '/export/:interval/:file', handler }]
}

/** Throws errors for names that cannot be a symbol, an interval or an extension, and what `parseQuery` throws. */
function parseRequest({ params, query, raw }: FastifyRequest) {
  const { file, ...path } = params as { interval: string; file: string }
  const [, name = file, extension = ''] = /^([^.]*)\.([\w.]*)$/.exec(file) ?? []
  const [symbol, interval] = [parseSymbol(name), parseInterval(path.interval)]
  const { format, gzip } = resolveFormat(file, undefined)
  const options = parseQuery(query as Record<string, unknown>)
  const request = { ...options, symbols: [symbol], intervals: [interval], output: `${symbol}.${extension}` }
  const type = gzip ? GZIP_TYPE : MEDIA[format]
  return { address: raw.url ?? '', interval, request, extension, type, mayAsk: !isFromOtherSite(raw) }
}

/** Throws `HttpError` 400 with every parameter that is unknown or repeated, and `bad_option` for the first invalid value. */
export function parseQuery(query: Readonly<Record<string, unknown>>, expected = QUERY_NAMES) {
  const names = Object.keys(query)
  const unknown = names.filter(name => !expected.includes(name))
  const faults = [
    ...unknown.map(field => ({ field, message: 'is unknown' })),
    ...names.filter(name => Array.isArray(query[name])).map(field => ({ field, message: 'is given more than once' })),
  ]
  if (faults.length > 0) {
    const text = faults.map(({ field, message }) => `"${field.slice(0, 40)}" ${message}`).join(', ')
    const message = `The query parameter ${text}. Expected some of ${expected.join(', ')}.`
    throw new HttpError(400, message, { cause: faults })
  }
  const given = QUERY.filter(({ flag }) => names.includes(flag))
  return Object.fromEntries(
    given.map(({ name, flag, option }) => [name, parseValue(name, option, String(query[flag]))]),
  )
}

function exportHeaders({ request, extension }: WantedExport, { interval, short }: ExportFile): Record<string, string> {
  const [symbol] = request.symbols
  const warnings = short.map(text => `299 klines "${quotable(text)}"`)
  return {
    'content-disposition': contentDisposition(symbol, `-${interval}.${extension}`),
    ...(warnings.length > 0 && { warning: warnings.join(', ') }),
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

const CHOICES = QUERY.flatMap(({ option }) => (option.takes === 'choice' ? (option.values ?? []) : []))
/** An option of the query as the command line has it, and the space before its value. */
const OPTION = new RegExp(`--(${QUERY_NAMES.join('|')})\\b(?: (?=\\d|(?:${CHOICES.join('|')})\\b))?`, 'g')

/** A sentence with options as an address has them: `from=` for `--from`. */
function inAddress(sentence: string): string {
  const named = sentence.replace(OPTION, '$1=').replace(/(from=\S+) (?=to=)/, '$1&')
  const placed = named.replace(/(?<=^|: )(?:klines export )?-i (\w+)/, '/export/$1')
  return placed.replace(/; --base-url [\w ]+| \w+ -i(?=\.)/, '')
}

/** An error of the library as `HttpError`, with the windows that it names as its cause; any other unchanged. No client sees `root`. */
export function toExportError(error: unknown, root: string): Error {
  if (!(error instanceof KlinesError)) return error as Error
  const { code, cause, message, suggestions } = error
  const statusCode = cause instanceof HttpError ? cause.statusCode : STATUSES[code]
  if (statusCode === undefined) return error
  const hide = (text: string) => text.replaceAll(`the mirror ${root}`, 'this server').replaceAll(`${root}/`, '')
  const failures = isKlinesError(error, 'incomplete') ? error.data.failures : undefined
  const windows = failures?.map(({ reason, ...window }) => ({ ...window, message: hide(reason) }))
  const [line, ...more] = message.split('\n')
  // What other commands and flags do is for who runs the server, and an address has no option for the format.
  const advice = suggestions.map(inAddress).filter(text => code !== 'bad_output' && !/--|^klines /.test(text))
  const sentences = [inAddress(more.length === 0 ? line : `${line} ${more.join('; ')}.`), ...advice].join(' ')
  // Its own text names folders of this machine.
  const text = code === 'window_missing' ? 'The mirror has no candles of this series.' : sentences
  return new HttpError(statusCode, hide(text), { cause: windows })
}
