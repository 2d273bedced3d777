import type { DuckDBValue } from '@duckdb/node-api'
import { CSV } from '../export/formats/csv.js'
import { KlinesError } from '../klines/errors.js'
import { cellText, jsonCell } from './cell.js'

/** The formats of a result. */
export const RESULT_FORMATS = ['table', 'csv', 'json', 'jsonl', 'parquet'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]

/** The formats that are text for programs. */
export type TextFormat = Exclude<ResultFormat, 'table' | 'parquet'>

const EXTENSIONS: Record<string, ResultFormat> = {
  csv: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  parquet: 'parquet',
}

/** A format, and whether the file is compressed with gzip. */
export interface ResultFile {
  readonly format: ResultFormat
  readonly gzip: boolean
}

/** The format of a file: `given`, else from its extension; a further `.gz` compresses text. Throws `bad_output`. */
export function resolveResultFormat(path: string, given: ResultFormat | undefined): ResultFile {
  const gzip = /\.gz$/i.test(path)
  const extension = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  const format = given ?? (Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined)
  if (format === undefined) {
    const message = `The name ${path} has no known extension. Expected .csv, .json, .jsonl (also with .gz) or .parquet.`
    throw new KlinesError('bad_output', message, { suggestions: [`Name the format with -f.`] })
  }
  if (gzip && format === 'parquet')
    throw new KlinesError('bad_output', `${path}: parquet files are compressed inside. Expected a name without .gz.`)
  return { format, gzip }
}

/** How rows become the text of a format. */
export interface ResultText {
  readonly start: string
  readonly end: string
  /** The text of some rows; `isFirst`: no row came before. */
  rows(rows: readonly (readonly DuckDBValue[])[], isFirst: boolean): string
}

/** The text format for columns of these names, which differ. */
export function resultText(format: TextFormat, names: readonly string[]): ResultText {
  if (format === 'csv') {
    const line = (cells: readonly string[]) => `${cells.join(',')}\n`
    // A text that is empty is told from null by its quotes.
    const toCsv = (value: DuckDBValue) => (value === '' ? '""' : CSV.escape(cellText(value)))
    return { start: line(names.map(CSV.escape)), end: '', rows: rows => rows.map(row => line(row.map(toCsv))).join('') }
  }
  const keys = names.map(name => JSON.stringify(name))
  const toObject = (row: readonly DuckDBValue[]) =>
    `{${row.map((value, index) => `${keys[index]}:${JSON.stringify(jsonCell(value))}`).join(',')}}`
  if (format === 'jsonl') return { start: '', end: '', rows: rows => rows.map(row => `${toObject(row)}\n`).join('') }
  return {
    start: '[',
    end: '\n]\n',
    rows: (rows, isFirst) =>
      rows.map((row, index) => `${isFirst && index === 0 ? '' : ','}\n${toObject(row)}`).join(''),
  }
}
