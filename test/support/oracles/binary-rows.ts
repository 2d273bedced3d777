import { COLUMNS } from '../../../src/candles/columns.js'
import type { NumberType, OutputColumn } from '../../../src/options.js'
import type { WindowRows } from '../exporting.js'
import { duckdb } from './duckdb.js'

/** A row of a Parquet or Arrow file: times in ms, counts as BigInt, decimals as doubles or as text. */
export type BinaryRow = Record<string, number | bigint | string>

export const DUCKDB_NUMBERS = { double: 'DOUBLE', decimal: 'DECIMAL(38,8)', text: 'VARCHAR' } as const

/** A decimal with exactly 8 digits after the point, by operations on the text alone. */
export function withEightDecimals(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.slice(0, 8).padEnd(8, '0')}`
}

/** The rows that a reader must return. */
export function binaryRows(
  parts: readonly WindowRows[],
  columns: readonly OutputColumn[],
  numbers: NumberType,
): BinaryRow[] {
  const decimal = { double: Number, decimal: withEightDecimals, text: String }[numbers]
  const value = (name: OutputColumn, { known, rows }: WindowRows, row: number) => {
    if (name === 'symbol' || name === 'interval') return known.window[name]
    const cell = rows[row][COLUMNS.indexOf(name)]
    if (name === 'count') return BigInt(cell)
    return typeof cell === 'number' || name === 'ignore' ? cell : decimal(cell)
  }
  return parts.flatMap(part =>
    part.rows.map((_, row) => Object.fromEntries(columns.map(name => [name, value(name, part, row)]))),
  )
}

/** The rows of a Parquet file as DuckDB reads them, decimals as text. */
export async function duckdbRows(path: string): Promise<BinaryRow[]> {
  const { types } = await duckdb(`SELECT * FROM '${path}' LIMIT 0`)
  const columns = Object.entries(types).map(([name, type]) =>
    type.startsWith('DECIMAL') ? `CAST(${name} AS VARCHAR) AS ${name}` : name,
  )
  const { rows } = await duckdb(`SELECT ${columns.join(', ')} FROM '${path}'`)
  return rows.map(row =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Date ? +value : value])),
  ) as BinaryRow[]
}
