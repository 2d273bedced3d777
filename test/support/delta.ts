import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { queryVersion } from './oracles/delta-replay.js'
import { type Row, SYMBOLS, treeRows } from './synthetic-tree.js'

/** The rows and the exact sum of the opening prices of each series. */
export type Sums = Readonly<Record<string, readonly [rows: number, sum: string]>>

/** What a version of a table has, read by its log and DuckDB. */
export async function tableSums(table: string, version?: number): Promise<Sums> {
  const select =
    'select symbol, count(*)::int as n, sum(open)::decimal(38,8)::varchar as total from candles group by 1 order by 1'
  const rows = await queryVersion(table, select, version)
  return Object.fromEntries(rows.map(({ symbol, n, total }) => [symbol, [n, total]])) as Sums
}

/** What a table must have: the synthetic tree, with the rows of some windows replaced or added, such as `BTCUSDT 2025-01-06`. */
export function expectedSums(changed: Readonly<Record<string, readonly Row[]>> = {}): Sums {
  const entries = SYMBOLS.map(symbol => {
    const windows = treeRows(symbol)
    for (const [name, rows] of Object.entries(changed)) {
      const [other, date] = name.split(' ')
      if (other === symbol) windows.set(date, [...rows])
    }
    const rows = [...windows.values()].flat()
    const total = rows.reduce((sum, row) => sum + BigInt(row[1].replace('.', '')), 0n)
    return [symbol, [rows.length, String(total).replace(/(\d{8})$/, '.$1')]] as const
  })
  return Object.fromEntries(entries)
}

/** The names in the log of a table; none when it has no log. */
export function logNames(table: string): string[] {
  const log = join(table, '_delta_log')
  return existsSync(log) ? readdirSync(log).sort() : []
}

/** A version as names of files have it. */
export function digits(version: number): string {
  return String(version).padStart(20, '0')
}

const ID = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.parquet$)/

/** The path of the part that a version has added, without the id of its run: no name of a part is known in advance. */
export function tablePart(symbol: string, version: number, interval = '15m'): string {
  return `symbol=${symbol}/interval=${interval}/part-${digits(version)}.parquet`
}

/** Paths without the ids of the runs that made them. Throws for a part of a table that has none. */
export function withoutIds(paths: readonly string[]): string[] {
  return paths.map(path => {
    if (/part-\d{20}/.test(path) && !ID.test(path)) throw new Error(`${path} has no id.`)
    return path.replace(ID, '')
  })
}

/** The path of the only part on the disk that a version has added. */
export function findTablePart(table: string, symbol: string, version: number, interval = '15m'): string {
  const folder = `symbol=${symbol}/interval=${interval}`
  const names = readdirSync(join(table, folder)).filter(name => name.startsWith(`part-${digits(version)}-`))
  if (names.length !== 1) throw new Error(`${folder} has ${names.length} parts of version ${version}.`)
  return `${folder}/${names[0]}`
}
