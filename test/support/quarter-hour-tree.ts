import { candle, putFile, type Row, weekPath } from './synthetic-tree.js'

const WEEK = 7 * 86_400_000
export const QUARTER = 900_000
/** The first Monday with a 15m window. */
const FIRST_WEEK = Date.UTC(2024, 11, 30)
const WEEKS = 60

/** Writes a tree with every 15m candle from `fromTime` to `toTime` (open times, ms UTC), and a list of 60 weeks. */
export function makeQuarterHours(root: string, symbols: readonly string[], fromTime: number, toTime: number): string {
  const starts = Array.from({ length: WEEKS }, (_, week) => FIRST_WEEK + week * WEEK)
  putFile(root, 'api/klines/symbols.json', symbols)
  putFile(root, 'api/klines/start-dates/15m.json', starts.map(toDate))
  for (const symbol of symbols) {
    for (const start of starts)
      putWeek(root, symbol, start, quarterHours(Math.max(start, fromTime), Math.min(start + WEEK, toTime)))
  }
  return root
}

/** The candles that open from `fromTime` to `toTime`, ms UTC. */
export function quarterHours(fromTime: number, toTime: number): Row[] {
  return Array.from({ length: Math.max(0, (toTime - fromTime) / QUARTER) }, (_, index) =>
    candle(fromTime + index * QUARTER),
  )
}

/** Writes the window of the week that starts at `start`, ms UTC. `mtime`: when it was rendered. */
export function putWeek(root: string, symbol: string, start: number, rows: readonly Row[], mtime?: number): void {
  putFile(root, weekPath(symbol, toDate(start)), rows, mtime)
}

export function toDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
