import Type, { type TSchema } from 'typebox'
import { type ErrorCode, isKlinesError, KlinesError } from '../candles/errors.js'
import { parseInterval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { suggest } from '../candles/suggest.js'
import { parseSymbol } from '../candles/symbols.js'
import { checkExcerpt, type ExportRequest } from '../engine/export.js'
import { parseRowFormat } from '../formats/row-format.js'
import { CANDLE_ENTRIES } from '../options/candle-options.js'
import { type FileFormat, FORMATS, type Format, isBinary } from '../options/formats.js'
import { type Option, parseValue } from '../options/option.js'
import { OUTPUT_ENTRIES } from '../options/output-options.js'
import { parseTargetInterval } from '../rows/target-interval.js'
import { HttpError } from './errors.js'

/** The extensions of exported files: each format, and text formats also compressed. */
export const EXTENSIONS = FORMATS.flatMap(format => (isBinary(format) ? [format] : [format, `${format}.gz`]))

/** The options that the query has. */
const ENTRIES = [...CANDLE_ENTRIES, ...OUTPUT_ENTRIES]
const QUERY_NAMES: readonly string[] = ENTRIES.map(({ flag }) => flag)

function toSchema({ takes, values = [], summary, description = summary, example }: Option): TSchema {
  const details = { description, ...(example === undefined ? {} : { examples: [example] }) }
  if (takes === 'choice') return Type.Enum([...values], { type: 'string', ...details })
  if (takes === 'number') return Type.Integer(details)
  return takes === 'switch' ? Type.Boolean(details) : Type.String(details)
}

/** The query of an export, from the table of options; what uses the values checks them. The examples fit together. */
export const QuerySchema = Type.Object(
  Object.fromEntries(ENTRIES.map(({ flag, option }) => [flag, Type.Optional(toSchema(option))])),
)

/** How each format is sent. */
const MEDIA: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
}
const GZIP_TYPE = 'application/gzip'

/** The media type of a file. */
export function mediaType({ format, gzip }: FileFormat): string {
  return gzip ? GZIP_TYPE : MEDIA[format]
}

/** Schemas of the bodies by media type, without its parameters. */
export function exportContent(): Record<string, TSchema> {
  const types = [...Object.values(MEDIA), GZIP_TYPE].map(type => type.split(';')[0])
  return Object.fromEntries(types.map(type => [type, Type.Unsafe({ description: 'The bytes of the file' })]))
}

/** The options of a query, by their names in the library. */
type ExportQuery = Omit<ExportRequest, 'symbols' | 'intervals' | 'output'>

/** What a request for an export asks, checked as far as that needs no mirror. */
export interface ExportParameters extends FileFormat {
  readonly series: Series
  readonly extension: string
  readonly query: ExportQuery
}

/**
 * Parses the path and the query of a request. Throws `HttpError`: 404 for a name that cannot be a symbol, an interval or an
 * extension, with the nearest one; 400 for a parameter that is unknown, repeated or invalid.
 */
export function parseParameters(
  interval: string,
  file: string,
  query: Readonly<Record<string, unknown>>,
): ExportParameters {
  const [, name = file, extension = ''] = /^([^.]*)\.(.*)$/s.exec(file) ?? []
  const path = orStatus(404, () => ({
    series: { symbol: parseSymbol(name), interval: parseInterval(interval) },
    format: parseExtension(extension),
  }))
  const given = orStatus(400, () => {
    const options = parseQuery(query)
    checkExcerpt(options)
    parseRowFormat(options, path.format)
    if (options.resample !== undefined) parseTargetInterval(options.resample)
    return options
  })
  return { ...path, gzip: extension.endsWith('.gz'), extension, query: given }
}

/** What an error of the library becomes where it is about the path, or the query. */
function orStatus<T>(status: number, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw toExportError(error, { status })
  }
}

function parseExtension(extension: string): Format {
  if (EXTENSIONS.includes(extension)) return extension.replace(/\.gz$/, '') as Format
  const near = suggest(extension, EXTENSIONS)
  throw new KlinesError('bad_output', `Unknown extension "${extension}". Expected one of ${EXTENSIONS.join(', ')}.`, {
    suggestions: near ? [`Did you mean ${near}?`] : [],
  })
}

function parseQuery(query: Readonly<Record<string, unknown>>): ExportQuery {
  const names = Object.keys(query)
  const unknown = names.filter(name => !QUERY_NAMES.includes(name))
  const repeated = names.filter(name => Array.isArray(query[name]))
  const faults = [
    ...unknown.map(name => ({ field: name, message: 'is unknown' })),
    ...repeated.map(name => ({ field: name, message: 'is given more than once' })),
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

/** The statuses of errors that a client can do something about; any other is an internal error. */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  unknown_symbol: 404,
  unknown_interval: 404,
  bad_time: 400,
  bad_range: 400,
  bad_option: 400,
  bad_output: 400,
  no_candles: 404,
  window_missing: 409,
  incomplete: 409,
  // What the mirror has does not fit the requested form.
  digits_lost: 409,
}

/**
 * Converts an error of the library to an `HttpError`, and the windows that it names to its cause; returns any other error unchanged.
 * `status`: instead of the usual one; `root`: the folder of the mirror, which no client sees.
 */
export function toExportError(error: unknown, { status, root = '' }: { status?: number; root?: string } = {}): unknown {
  if (!(error instanceof KlinesError)) return error
  const statusCode = status ?? (error.cause instanceof HttpError ? error.cause.statusCode : STATUSES[error.code])
  if (statusCode === undefined) return error
  const hide = (text: string) => {
    return root ? text.replaceAll(`the mirror ${root}`, 'this server').replaceAll(`${root}/`, '') : text
  }
  const failures = isKlinesError(error, 'incomplete') ? error.data.failures : undefined
  const cause = failures?.map(({ reason, ...window }) => ({ ...window, message: hide(reason) }))
  return new HttpError(statusCode, hide(describe(error)), { cause })
}

/** The message and the advice of an error as one line. */
function describe({ code, message, suggestions }: KlinesError): string {
  // Its advice names folders of this machine.
  if (code === 'window_missing') return /^Not in the mirror/.test(message) ? message : 'The mirror has no candles yet.'
  const [first, ...causes] = message.split('\n')
  const line = causes.length === 0 ? first : `${first} ${causes.join('; ')}.`
  return [line, ...suggestions].join(' ')
}
