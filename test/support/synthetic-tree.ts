import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const DAY = 86_400_000
const QUARTER = 900_000

/** Wednesday noon: the week of 2025-02-10 has started, the one of 2025-02-17 lies in the future. */
export const NOW = Date.UTC(2025, 1, 12, 12)
/** A week later, when the last window on the list has started: the clock of runs that have no `now` of their own. */
export const PRESENT = NOW + 7 * DAY
/** When the synthetic tree was rendered: the modification time of its files. */
export const RENDERED = Date.UTC(2025, 1, 12, 3, 17)

export const SYMBOLS = ['BTCUSDT', 'ETHUSDT'] as const
/** 15m windows: one before the listing, five full, one half full, one in the future. */
export const EMPTY_WEEK = '2024-12-30'
export const FULL_WEEKS = ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27', '2025-02-03']
export const OPEN_WEEK = '2025-02-10'
export const FUTURE_WEEK = '2025-02-17'
/** The windows that have started by `NOW`. */
export const STARTED = [EMPTY_WEEK, ...FULL_WEEKS, OPEN_WEEK]
export const START_DATES = [...STARTED, FUTURE_WEEK]

export type Row = [number, string, string, string, string, string, number, string, number, string, string, string]

/** The path of a 15m window, as in the service's OpenAPI description. */
export function weekPath(symbol: string, startDate: string): string {
  return `api/klines/15m/${symbol}/${startDate}.json`
}

/** A 15m candle whose values depend on its time and `seed`. */
export function candle(openTime: number, seed = 0): Row {
  const price = `${1000 + ((openTime / QUARTER + seed) % 977)}.12345678`
  // The volume of 3.5 at that price.
  const quote = `${(Number(price.replace('.', '')) * 7) / 2}`.replace(/(?=\d{8}$)/, '.')
  const closeTime = openTime + QUARTER - 1
  return [openTime, price, price, price, price, '3.50000000', closeTime, quote, 42, '1.00000000', price, '0']
}

/** Candles of a week: one a day at midnight, and the last one of Sunday, which completes it. `days` limits their number. */
export function weekRows(startDate: string, { days = 8, seed = 0 } = {}): Row[] {
  const start = Date.parse(startDate)
  const times = [0, 1, 2, 3, 4, 5, 6].map(day => start + day * DAY)
  return [...times, start + 7 * DAY - QUARTER].slice(0, days).map(time => candle(time, seed))
}

/** The bytes of a window file in the wire form. */
export function windowBytes(rows: readonly Row[]): Buffer {
  return Buffer.from(JSON.stringify(rows))
}

/** Writes a file of a tree. */
export function putFile(root: string, path: string, content: unknown, mtime = RENDERED): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  utimesSync(file, mtime / 1000, mtime / 1000)
}

/** The rows of every window of one symbol in the synthetic tree. */
export function treeRows(symbol: string): Map<string, Row[]> {
  const seed = SYMBOLS.indexOf(symbol as (typeof SYMBOLS)[number])
  return new Map([
    [EMPTY_WEEK, []],
    ...FULL_WEEKS.map(date => [date, weekRows(date, { seed })] as const),
    [OPEN_WEEK, weekRows(OPEN_WEEK, { seed, days: 2 })],
    [FUTURE_WEEK, []],
  ])
}

/** Writes the synthetic tree: two symbols, only 15m. */
export function makeTree(root: string): string {
  putFile(root, 'api/klines/symbols.json', SYMBOLS)
  putFile(root, 'api/klines/start-dates/15m.json', START_DATES)
  for (const symbol of SYMBOLS) {
    for (const [startDate, rows] of treeRows(symbol)) putFile(root, weekPath(symbol, startDate), rows)
  }
  return root
}
