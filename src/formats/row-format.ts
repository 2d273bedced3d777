import zlib from 'node:zlib'
import { COLUMN_KINDS, COLUMNS } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import { isOneOf } from '../candles/json.js'
import { didYouMean, nearest } from '../candles/suggest.js'
import { splitNames } from '../candles/text.js'
import {
  type Compression,
  checkOutputRequest,
  type Format,
  isBinary,
  type NumberType,
  OUTPUT_COLUMNS,
  type OutputColumn,
  type OutputRequest,
  SERIES_COLUMNS,
  type SeriesColumn,
  type TimeFormat,
  valuesFor,
} from '../options.js'

export interface RowFormat extends OutputRequest {
  readonly columns: readonly OutputColumn[]
  readonly timeFormat: TimeFormat
  readonly numbers: NumberType
  /** How the pages of a Parquet file are compressed; `none` for other formats. */
  readonly compression: Compression
}

export function isSeriesColumn(column: OutputColumn): column is SeriesColumn {
  return isOneOf(SERIES_COLUMNS, column)
}

/** How Parquet, Arrow and a lake store a column. */
export type ColumnType = 'time' | 'count' | NumberType

export function columnType(name: OutputColumn, numbers: NumberType): ColumnType {
  if (isSeriesColumn(name)) return 'text'
  const kind = COLUMN_KINDS[COLUMNS.indexOf(name)]
  return kind === 'decimal' ? numbers : kind
}

/** Names of columns, which may be joined by commas; default: all twelve. Throws `bad_option` for an unknown or repeated one. */
export function parseColumns(texts: readonly string[] | undefined): OutputColumn[] {
  if (texts === undefined) return [...COLUMNS]
  const names = splitNames(texts)
  if (names.length === 0) throw new KlinesError('bad_option', 'Expected at least one column.')
  return names.map((name, index) => {
    if (!isOneOf(OUTPUT_COLUMNS, name)) {
      const near = nearest(name.toLowerCase(), OUTPUT_COLUMNS)
      throw new KlinesError('bad_option', `Unknown column "${name}". Expected some of ${OUTPUT_COLUMNS.join(', ')}.`, {
        suggestions: didYouMean(name, near, column => parseColumns([column])),
      })
    }
    if (names.indexOf(name) !== index) throw new KlinesError('bad_option', `Column "${name}" is given twice.`)
    return name
  })
}

/** Throws `bad_option` for an option that the format cannot use: none is ignored. */
export function parseRowFormat(request: OutputRequest, format: Format): RowFormat {
  checkOutputRequest(request, format)
  const values: OutputRequest = valuesFor(request, format)
  const { columns, timeFormat = 'ms', numbers = isBinary(format) ? 'double' : 'text', ...others } = values
  const compression = format === 'parquet' ? toCompression(others.compression) : 'none'
  return { ...others, columns: parseColumns(columns), timeFormat, numbers, compression }
}

/** Whether this Node has zstd: 22.15 and later 22, 23.8 and later. */
export function hasZstd(): boolean {
  return 'zstdCompress' in zlib
}

/** The requested compression, else the best that this Node has. Throws `bad_option` for one that it lacks. */
export function toCompression(requested: Compression | undefined): Compression {
  if (requested !== 'zstd' || hasZstd()) return requested ?? (hasZstd() ? 'zstd' : 'gzip')
  throw new KlinesError('bad_option', `--compression zstd is not in Node ${process.versions.node}.`, {
    suggestions: ['Use --compression gzip, or run klines with Node 22.15 or later.'],
  })
}

/** For a file with several series: `symbol` and `interval` come first where they were not requested. */
export function withSeriesColumns(columns: readonly OutputColumn[]): OutputColumn[] {
  return [...SERIES_COLUMNS.filter(name => !columns.includes(name)), ...columns]
}
