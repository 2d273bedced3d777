import { createReadStream } from 'node:fs'
import type { DuckDBValue } from '@duckdb/node-api'
import { CSV } from '../export/formats/text.js'
import type { Output } from '../export/output/output.js'
import { KlinesError } from '../klines/errors.js'
import { isOneOf } from '../klines/json.js'
import { sqlText } from '../lake/root/views.js'
import { formatOfName } from '../options/formats.js'
import type { Database } from './database.js'
import type { Query } from './query.js'

/** A value as JSON can hold it. Numbers are whole within +-(2^53-1), or finite doubles. */
type JsonCell = string | number | boolean | null | readonly JsonCell[] | { readonly [name: string]: JsonCell }

/** A timestamp as DuckDB writes it in UTC. */
const TIMESTAMP = /^(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(\+00)?$/
/** Digits of the second's fraction, at least. */
const FRACTION = 3

/**
 * A value of DuckDB for JSON. Decimals, and whole numbers beyond 2^53, are texts that keep every digit; times are ISO 8601, with
 * a Z where they are points in time (TIMESTAMP WITH TIME ZONE). A double that is no number is a text.
 */
function jsonCell(value: DuckDBValue): JsonCell {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : String(value)
  if ('items' in value) return value.items.map(jsonCell)
  if ('entries' in value) {
    const pairs = Array.isArray(value.entries)
      ? value.entries.map(({ key, value }) => [cellText(key), value] as const)
      : Object.entries(value.entries as Readonly<Record<string, DuckDBValue>>)
    return Object.fromEntries(pairs.map(([name, entry]) => [name, jsonCell(entry)]))
  }
  // Unions and variants hold another value; a decimal's is its digits.
  if ('value' in value && !('scale' in value)) return jsonCell(value.value)
  return isoTime(String(value))
}

/** The same as plain text: null is empty, a list or a structure is JSON. */
export function cellText(value: DuckDBValue): string {
  const cell = jsonCell(value)
  if (cell === null) return ''
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
}

/** A timestamp of DuckDB as ISO 8601; any other text as it is. */
function isoTime(text: string): string {
  const [whole, date, time, fraction = '', zone] = TIMESTAMP.exec(text) ?? []
  if (whole === undefined) return text
  return `${date}T${time}.${fraction.padEnd(FRACTION, '0')}${zone === undefined ? '' : 'Z'}`
}

/** The formats of a result. */
export const RESULT_FORMATS = ['table', 'csv', 'json', 'jsonl', 'parquet'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]

/** The formats that are text for programs. */
export type TextFormat = Exclude<ResultFormat, 'table' | 'parquet'>

/** A format, and whether the file is compressed with gzip. */
export interface ResultFile {
  readonly format: ResultFormat
  readonly gzip: boolean
}

/** The format of a file: `given`, else from its extension; a further `.gz` compresses text. Throws `bad_output`. */
export function resolveResultFormat(path: string, given: ResultFormat | undefined): ResultFile {
  const gzip = /\.gz$/i.test(path)
  const format = given ?? formatOfName(path)
  if (!isOneOf(RESULT_FORMATS, format)) {
    const message = `The name ${path} has no known extension. Expected .csv, .json, .jsonl (also with .gz) or .parquet.`
    throw new KlinesError('bad_output', message, { suggestions: [`Name the format with -f.`] })
  }
  if (gzip && format === 'parquet')
    throw new KlinesError('bad_output', `${path}: parquet files are compressed inside. Expected a name without .gz.`)
  return { format, gzip }
}

/** How rows become the text of a format. */
interface ResultText {
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

/**
 * Writes the result of a query as text, chunk by chunk. `open` is called when the query has run to its end: one that fails opens
 * nothing. Returns the number of rows. Throws `bad_query`.
 */
export async function writeText(
  database: Database,
  query: Query,
  format: TextFormat,
  open: () => Promise<Output>,
): Promise<number> {
  const result = await database.run(query.sql)
  const text = resultText(format, result.deduplicatedColumnNames())
  const output = await open()
  let pending = text.start
  let rows = 0
  for (;;) {
    const chunk = await database.guard(() => result.fetchChunk())
    if (!chunk || chunk.rowCount === 0) break
    await output.write(Buffer.from(pending + text.rows(chunk.getRows(), rows === 0)))
    pending = ''
    rows += chunk.rowCount
  }
  await output.write(Buffer.from(pending + text.end))
  await output.finish()
  return rows
}

/** Whole numbers that Parquet has no type for: DuckDB would write doubles. */
const HUGE = /^U?HUGEINT$/

/**
 * Writes the result of a query as Parquet to `file`, the only one that the database may write, and from there to an output, which
 * `open` opens. Returns the number of rows. Throws `bad_query`.
 */
export async function writeParquet(
  database: Database,
  query: Query,
  file: string,
  open: () => Promise<Output>,
): Promise<number> {
  await database.run(`create temp view klines_result as\n${query.sql}`)
  const described = await database.run('from klines_result limit 0')
  const types = described.columnTypes().map(String)
  const huge = described.columnNames().filter((_, index) => HUGE.test(types[index]))
  const casts = huge.map(name => `cast(${sqlName(name)} as decimal(38, 0)) as ${sqlName(name)}`)
  const select = casts.length > 0 ? `select * replace (${casts.join(', ')}) from klines_result` : 'from klines_result'
  const options = 'format parquet, compression zstd, use_tmp_file false'
  const copied = await database.guard(() =>
    database.connection.runAndReadAll(`copy (${select}) to ${sqlText(file)} (${options})`),
  )
  const output = await open()
  for await (const chunk of createReadStream(file)) await output.write(chunk)
  await output.finish()
  return Number(copied.getRows()[0][0])
}

function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
