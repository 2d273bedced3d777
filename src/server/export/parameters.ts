import Type, { type TSchema } from 'typebox'
import { checkExcerpt, type ExcerptRequest } from '../../export/excerpt.js'
import type { ResampleRequest } from '../../export/export-series.js'
import { parseRowFormat, type RowFormat } from '../../export/row-format.js'
import { KlinesError } from '../../klines/errors.js'
import { parseInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { suggest } from '../../klines/suggest.js'
import { parseSymbol } from '../../klines/symbols.js'
import type { RangeText } from '../../klines/time-range.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import { type FileFormat, FORMATS, type Format, isBinary } from '../../options/formats.js'
import { type Option, parseValue } from '../../options/option.js'
import { OUTPUT_ENTRIES, type OutputRequest } from '../../options/output-options.js'
import { HttpError } from '../http/error.js'
import { toExportError } from './errors.js'

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

/**
 * The query of an export, for its OpenAPI description; `parseParameters` checks the values. The examples fit together, because
 * the API reference sends all of them.
 */
export const QuerySchema = Type.Object(
  Object.fromEntries(ENTRIES.map(({ flag, option }) => [flag, Type.Optional(toSchema(option))])),
)

/** The options of a query, by their names in the library. */
export interface ExportQuery extends RangeText, ResampleRequest, ExcerptRequest, OutputRequest {}

/** What a request for an export asks, checked as far as that needs no mirror. */
export interface ExportParameters extends FileFormat {
  readonly series: Series
  readonly extension: string
  readonly query: ExportQuery
  readonly rowFormat: RowFormat
}

/**
 * Parses the path and the query of a request. Throws `HttpError`: 404 for a name that cannot be a symbol, an interval or an
 * extension, with the nearest one; 400 for a parameter that is unknown, repeated or invalid.
 */
export function parseParameters(interval: string, file: string, query: URLSearchParams): ExportParameters {
  const [, name = file, extension = ''] = /^([^.]*)\.(.*)$/s.exec(file) ?? []
  const path = { ...parsePath(() => parseSeries(interval, name)), ...parsePath(() => parseExtension(extension)) }
  const given = parseQuery(query)
  checkExcerpt(given)
  return { ...path, extension, query: given, rowFormat: parseRowFormat(given, path.format) }
}

function parseSeries(interval: string, symbol: string): { series: Series } {
  return { series: { symbol: parseSymbol(symbol), interval: parseInterval(interval) } }
}

function parseExtension(extension: string): FileFormat {
  if (!EXTENSIONS.includes(extension)) {
    const near = suggest(extension, EXTENSIONS)
    throw new KlinesError('bad_output', `Unknown extension "${extension}". Expected one of ${EXTENSIONS.join(', ')}.`, {
      suggestions: near ? [`Did you mean ${near}?`] : [],
    })
  }
  return { format: extension.replace(/\.gz$/, '') as Format, gzip: extension.endsWith('.gz') }
}

/** What a path cannot name is not there. */
function parsePath<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw toExportError(error, { status: 404 })
  }
}

/** Whoever uses the values checks them. */
function parseQuery(query: URLSearchParams): ExportQuery {
  const names = [...new Set(query.keys())]
  const unknown = names.filter(name => !QUERY_NAMES.includes(name))
  const repeated = names.filter(name => query.getAll(name).length > 1)
  const faults = [
    ...unknown.map(name => ({ field: name, message: 'is unknown' })),
    ...repeated.map(name => ({ field: name, message: 'is given more than once' })),
  ]
  if (faults.length > 0) {
    const near = unknown.flatMap(name => suggest(name, QUERY_NAMES) ?? [])
    const advice = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
    const text = faults.map(({ field, message }) => `"${field.slice(0, 40)}" ${message}`).join(', ')
    throw new HttpError(400, `The query parameter ${text}. Expected some of ${QUERY_NAMES.join(', ')}.${advice}`, {
      cause: faults,
    })
  }
  const given = ENTRIES.filter(({ flag }) => query.has(flag))
  return Object.fromEntries(
    given.map(({ name, flag, option }) => [name, parseValue(name, option, query.get(flag) ?? '')]),
  )
}
