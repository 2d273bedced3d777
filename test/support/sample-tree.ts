import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './cli/cli-sandbox.js'

/** The bundled tree of synthetic sample data. */
export const SAMPLE_TREE = join(PROJECT, 'fixtures', 'sample')

/** The intervals in the service's OpenAPI description, in its order. */
export const ALL_INTERVALS = ['15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1w', '1M'] as const

/** The header of a CSV file with all columns. */
export const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

/** A row of a window file. */
export type FileRow = readonly (string | number)[]

/** The rows of a series of a tree: all its window files, read with `JSON.parse`. */
export function treeFileRows(root: string, symbol: string, interval: string): FileRow[] {
  const folder = join(root, 'api', 'klines', interval, symbol)
  const names = readdirSync(folder).sort()
  return names.flatMap(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as FileRow[])
}

export function sampleRows(symbol: string, interval: string): FileRow[] {
  return treeFileRows(SAMPLE_TREE, symbol, interval)
}

/** Formats rows as a CSV file; no cell of a kline needs quotes. */
export function csvOf(rows: readonly FileRow[], header = HEADER): string {
  return [header, ...rows.map(row => row.join(','))].map(line => `${line}\n`).join('')
}

/** Copies the sample data as a mirror that has a file for each window of its lists: the bundled tree lacks empty ones. */
export function copySample(root: string, intervals: readonly string[] = ALL_INTERVALS): void {
  const isCopied = (path: string) => {
    const [interval] = /(?<=klines\/)\d+\w/.exec(path) ?? []
    return interval === undefined || intervals.includes(interval)
  }
  cpSync(SAMPLE_TREE, root, { recursive: true, filter: path => isCopied(path.slice(SAMPLE_TREE.length)) })
  for (const interval of intervals) {
    const dates: string[] = JSON.parse(readFileSync(join(root, `api/klines/start-dates/${interval}.json`), 'utf8'))
    for (const path of ['BTCUSDT', 'ETHUSDT'].flatMap(name => dates.map(date => `${interval}/${name}/${date}.json`)))
      if (!existsSync(join(root, 'api/klines', path))) writeFileSync(join(root, 'api/klines', path), '[]')
  }
}
