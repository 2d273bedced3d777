import { type PictureOptions, type PictureRequest, parsePicture } from '../chart/svg/picture-options.js'
import { COLUMNS, type Column } from '../klines/columns.js'
import { KlinesError } from '../klines/errors.js'
import { suggest } from '../klines/suggest.js'
import { COMPRESSIONS, type Compression, defaultCompression, hasZstd } from './formats/compression.js'
import { type Format, isBinary } from './formats/format.js'

/** The columns of an export: the twelve of a row, and the series that the row belongs to. */
export const SERIES_COLUMNS = ['symbol', 'interval'] as const
export const OUTPUT_COLUMNS = [...SERIES_COLUMNS, ...COLUMNS] as const
export type SeriesColumn = (typeof SERIES_COLUMNS)[number]
export type OutputColumn = SeriesColumn | Column

/** How text formats write times: ms or us since the epoch, s (with decimals where there are ms), or ISO 8601 in UTC. */
export const TIME_FORMATS = ['ms', 's', 'us', 'iso'] as const
export type TimeFormat = (typeof TIME_FORMATS)[number]

/** How Parquet and Arrow store decimals: nearest double, DECIMAL(38,8), or the source's text. */
export const NUMBER_TYPES = ['text', 'double', 'decimal'] as const
export type NumberType = (typeof NUMBER_TYPES)[number]

/** What the rows of an export look like. */
export interface RowFormat {
  readonly columns: readonly OutputColumn[]
  readonly timeFormat: TimeFormat
  readonly numbers: NumberType
  /** How the pages of a Parquet file are compressed; `none` for other formats. */
  readonly compression: Compression
  /** For svg, which draws the rows. */
  readonly picture?: PictureOptions
}

export function isSeriesColumn(column: OutputColumn): column is SeriesColumn {
  return (SERIES_COLUMNS as readonly string[]).includes(column)
}

/**
 * Checks the names of columns, which may be joined by commas; all twelve when there are none. Throws `bad_option` for an
 * unknown name (with the nearest one) and for a repeated one.
 */
export function parseColumns(texts: readonly string[] | undefined): OutputColumn[] {
  if (texts === undefined) return [...COLUMNS]
  const names = texts.flatMap(text => text.split(',')).map(text => text.trim())
  if (names.length === 0) throw new KlinesError('bad_option', 'No column is named. Expected at least one.')
  for (const [index, name] of names.entries()) {
    if (!(OUTPUT_COLUMNS as readonly string[]).includes(name)) {
      const near = suggest(name.toLowerCase(), OUTPUT_COLUMNS)
      throw new KlinesError('bad_option', `Unknown column "${name}". Expected some of ${OUTPUT_COLUMNS.join(', ')}.`, {
        suggestions: near ? [`Did you mean ${near}?`] : [],
      })
    }
    if (names.indexOf(name) !== index) throw new KlinesError('bad_option', `Column "${name}" is given twice.`)
  }
  return names as OutputColumn[]
}

/** The row format of a request. */
export interface RowFormatRequest extends PictureRequest {
  readonly columns?: readonly string[] | undefined
  readonly timeFormat?: TimeFormat | undefined
  readonly numbers?: NumberType | undefined
  readonly compression?: Compression | undefined
}

/** The row format for a file format. Throws `bad_option` for an option that the format cannot use: none is ignored. */
export function parseRowFormat(request: RowFormatRequest, format: Format): RowFormat {
  const { columns, timeFormat, numbers, theme, width, height, log } = request
  const picture = { theme, width, height, log }
  const compression = parseCompression(request.compression, format)
  if (format === 'svg') {
    refuse({ columns, timeFormat, numbers }, 'is for formats with rows; svg is a picture of the candles.')
    return { columns: COLUMNS, timeFormat: 'ms', numbers: 'text', compression, picture: parsePicture(picture) }
  }
  refuse({ ...picture, log: log || undefined }, `is for svg; ${format} has rows and no picture.`)
  const binary = isBinary(format)
  checkChoice('timeFormat', timeFormat, TIME_FORMATS)
  checkChoice('numbers', numbers, NUMBER_TYPES)
  if (binary && timeFormat !== undefined && timeFormat !== 'ms') {
    throw new KlinesError(
      'bad_option',
      `\`timeFormat: '${timeFormat}'\` is for csv, json and jsonl; ${format} holds times as TIMESTAMP(ms, UTC).`,
    )
  }
  if (!binary && numbers !== undefined && numbers !== 'text') {
    throw new KlinesError(
      'bad_option',
      `\`numbers: '${numbers}'\` is for parquet and arrow; ${format} carries the text of the source untouched.`,
    )
  }
  return {
    columns: parseColumns(columns),
    timeFormat: timeFormat ?? 'ms',
    numbers: numbers ?? (binary ? 'double' : 'text'),
    compression,
  }
}

/** Throws `bad_option` for a compression that the format or this Node does not have. */
function parseCompression(compression: Compression | undefined, format: Format): Compression {
  checkChoice('compression', compression, COMPRESSIONS)
  if (format !== 'parquet') {
    if (compression === undefined || compression === 'none') return 'none'
    const message = `\`compression: '${compression}'\` is for parquet; ${format} accepts none alone.`
    const suggestions = isBinary(format) ? [] : ['A name that ends in .gz compresses a text format.']
    throw new KlinesError('bad_option', message, { suggestions })
  }
  if (compression !== 'zstd' || hasZstd()) return compression ?? defaultCompression()
  const suggestions = ["Use `compression: 'gzip'`, or run klines with Node 22.15 or later."]
  throw new KlinesError('bad_option', `\`compression: 'zstd'\` is not in Node ${process.versions.node}.`, {
    suggestions,
  })
}

/** Throws `bad_option` for the first option that is given: the format cannot use it. */
function refuse(options: Readonly<Record<string, unknown>>, reason: string): void {
  const given = Object.entries(options).find(([, value]) => value !== undefined)
  if (given !== undefined) throw new KlinesError('bad_option', `\`${given[0]}\` ${reason}`)
}

/** For callers without types: refuses a value that is not one of the choices. */
function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return
  throw new KlinesError('bad_option', `\`${name}\` is "${value}". Expected ${choices.join(', ')}.`)
}

/** The columns of a file with several series: `symbol` and `interval` come first where they were not requested. */
export function withSeriesColumns(columns: readonly OutputColumn[]): OutputColumn[] {
  return [...SERIES_COLUMNS.filter(name => !columns.includes(name)), ...columns]
}
