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
import { CANDLE_OPTIONS, QUERIED_CANDLES } from '../../options/candle-options.js'
import { type FileFormat, FORMATS, type Format, isBinary } from '../../options/formats.js'
import { type Option, parseValue } from '../../options/option.js'
import { OUTPUT_ENTRIES, type OutputRequest } from '../../options/output-options.js'
import { HttpError } from '../http/error.js'
import { toExportError } from './errors.js'

/** The extensions of exported files: each format, and text formats also compressed. */
export const EXTENSIONS = FORMATS.flatMap(format => (isBinary(format) ? [format] : [format, `${format}.gz`]))

/** The options of which something holds. */
function describe(isMeant: (option: Option) => boolean): Record<string, TSchema> {
  const entries = [...QUERIED_CANDLES, ...OUTPUT_ENTRIES].filter(({ option }) => isMeant(option))
  return Object.fromEntries(entries.map(({ flag, option }) => [flag, Type.Optional(toSchema(option))]))
}

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
export const QuerySchema = Type.Object({
  ...describe(({ helpGroup }) => helpGroup === 'range'),
  ...describe(({ group }) => group === 'how they are written'),
  ...describe(({ group, helpGroup }) => group === 'which candles' && helpGroup !== 'range'),
})

const QUERY_NAMES = Object.keys(QuerySchema.properties)

type Query = Readonly<Record<string, string | undefined>>

/** What a request for an export asks, checked as far as that needs no mirror. */
export interface ExportParameters extends FileFormat {
  readonly series: Series
  readonly extension: string
  readonly rangeText: RangeText
  readonly rowFormat: RowFormat
  readonly resampling: ResampleRequest
  readonly excerpt: ExcerptRequest
}

/**
 * Parses the path and the query of a request. Throws `HttpError`: 404 for a name that cannot be a symbol, an interval or an
 * extension, with the nearest one; 400 for a parameter that is unknown, repeated or invalid.
 */
export function parseParameters(interval: string, file: string, query: URLSearchParams): ExportParameters {
  const [, name = file, extension = ''] = /^([^.]*)\.(.*)$/s.exec(file) ?? []
  const path = { ...parsePath(() => parseSeries(interval, name)), ...parsePath(() => parseExtension(extension)) }
  const given = parseQuery(query)
  const { from, to, last, resample, partial } = given
  return {
    ...path,
    extension,
    rangeText: { from, to, last },
    rowFormat: parseRowFormat(parseOptions(given), path.format),
    resampling: {
      resample,
      partial: partial !== undefined && parseValue('partial', CANDLE_OPTIONS.partial, partial) === true,
    },
    excerpt: parseExcerpt(given),
  }
}

function parseExcerpt(given: Query): ExcerptRequest {
  const parseCount = (name: 'limit' | 'tail') => {
    const text = given[name]
    return text === undefined ? undefined : Number(parseValue(name, CANDLE_OPTIONS[name], text))
  }
  const excerpt = { limit: parseCount('limit'), tail: parseCount('tail') }
  checkExcerpt(excerpt)
  return excerpt
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

function parseQuery(query: URLSearchParams): Query {
  const names = [...query.keys()]
  const known = QUERY_NAMES
  const unknown = [...new Set(names)].filter(name => !known.includes(name))
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  const faults = [
    ...unknown.map(name => ({ field: name, message: 'is unknown' })),
    ...repeated.map(name => ({ field: name, message: 'is given more than once' })),
  ]
  if (faults.length > 0) {
    const near = unknown.flatMap(name => suggest(name, known) ?? [])
    const advice = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
    const text = faults.map(({ field, message }) => `"${field.slice(0, 40)}" ${message}`).join(', ')
    throw new HttpError(400, `The query parameter ${text}. Expected some of ${known.join(', ')}.${advice}`, {
      cause: faults,
    })
  }
  return Object.fromEntries(query)
}

/** The options of the table; `parseRowFormat` checks their values. */
function parseOptions(given: Query): OutputRequest {
  const values = OUTPUT_ENTRIES.map(({ name, flag, option }) => {
    const text = given[flag]
    return [name, text === undefined ? undefined : parseValue(name, option, text)]
  })
  return Object.fromEntries(values)
}
