import type { PictureRequest, Theme } from '../../chart/svg/picture-options.js'
import type { ResampleRequest } from '../../export/export-series.js'
import type { Compression } from '../../export/formats/compression.js'
import { type FileFormat, FORMATS, type Format, isBinary } from '../../export/formats/format.js'
import { type NumberType, parseRowFormat, type RowFormat, type TimeFormat } from '../../export/row-format.js'
import { KlinesError } from '../../klines/errors.js'
import { parseInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { suggest } from '../../klines/suggest.js'
import { parseSymbol } from '../../klines/symbols.js'
import type { RangeText } from '../../klines/time-range.js'
import { HttpError } from '../http/error.js'
import { toExportError } from './errors.js'
import { QuerySchema } from './schema.js'

/** The extensions of exported files: each format, and text formats also compressed. */
export const EXTENSIONS = FORMATS.flatMap(format => (isBinary(format) ? [format] : [format, `${format}.gz`]))

type QueryName = keyof typeof QuerySchema.properties
const QUERY_NAMES = Object.keys(QuerySchema.properties) as QueryName[]

/** What a request for an export asks, checked as far as that needs no mirror. */
export interface ExportParameters extends FileFormat {
  readonly series: Series
  readonly extension: string
  readonly rangeText: RangeText
  readonly rowFormat: RowFormat
  readonly resampling: ResampleRequest
}

/**
 * Parses the path and the query of a request. Throws `HttpError`: 404 for a name that cannot be a symbol, an interval or an
 * extension, with the nearest one; 400 for a parameter that is unknown, repeated or invalid.
 */
export function parseParameters(interval: string, file: string, query: URLSearchParams): ExportParameters {
  const [, name = file, extension = ''] = /^([^.]*)\.(.*)$/s.exec(file) ?? []
  const path = { ...parsePath(() => parseSeries(interval, name)), ...parsePath(() => parseExtension(extension)) }
  const given = parseQuery(query)
  const { from, to, last, columns, numbers, compression, 'time-format': timeFormat, resample, partial } = given
  const rowRequest = {
    columns: columns === undefined ? undefined : [columns],
    numbers: numbers as NumberType | undefined,
    compression: compression as Compression | undefined,
    timeFormat: timeFormat as TimeFormat | undefined,
    ...parsePicture(given),
  }
  return {
    ...path,
    extension,
    rangeText: { from, to, last },
    rowFormat: parseRowFormat(rowRequest, path.format),
    resampling: { resample, partial: parseFlag('partial', partial) },
  }
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

function parseQuery(query: URLSearchParams): Partial<Record<QueryName, string>> {
  const names = [...query.keys()]
  const known: readonly string[] = QUERY_NAMES
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
  return Object.fromEntries(query) as Partial<Record<QueryName, string>>
}

/** The options of svg; `parseRowFormat` checks their values. */
function parsePicture({ theme, width, height, log }: Partial<Record<QueryName, string>>): PictureRequest {
  return {
    theme: theme as Theme | undefined,
    width: parsePixels('width', width),
    height: parsePixels('height', height),
    log: log === undefined ? undefined : parseFlag('log', log),
  }
}

function parsePixels(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,6}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new KlinesError('bad_option', `\`${name}\` is "${text}". Expected a whole number of pixels.`)
}

function parseFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false
  if (text === 'true' || text === '') return true
  throw new KlinesError('bad_option', `\`${name}\` is "${text}". Expected true or false.`)
}
