import { candle, putFile, type Row, weekPath } from '../../support/synthetic-tree.js'

const [QUARTER, WEEK] = [900_000, 7 * 86_400_000]
/** Every other candle of a week and its last, which makes the window full. */
const QUARTERS = Array.from({ length: 337 }, (_, index) => Math.min(2 * index, 671))
const FIRST = Date.UTC(2024, 11, 30)
const WEEKS = 40

/** A time in the last of the weeks, ms UTC. */
export const SOAK_PRESENT = FIRST + (WEEKS - 0.5) * WEEK
/** The first day of its weeks, and the day after the last. */
export const [SOAK_START, SOAK_END] = [FIRST, FIRST + WEEKS * WEEK].map(time =>
  new Date(time).toISOString().slice(0, 10),
)
/** The symbols of the soak's tree. */
export const SOAK_SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'BNBUSDT', 'SOLUSDT', 'XRPUSDT']

/**
 * Writes a tree of 200 different full 15m windows, some 10 MB: a download of it takes about a second. Returns the bytes of each
 * window by its path.
 */
export function soakTree(root: string): Map<string, Buffer> {
  const windows = new Map<string, Buffer>()
  const starts = Array.from({ length: WEEKS }, (_, week) => FIRST + week * WEEK)
  const dates = starts.map(start => new Date(start).toISOString().slice(0, 10))
  putFile(root, 'api/klines/symbols.json', SOAK_SYMBOLS)
  putFile(root, 'api/klines/start-dates/15m.json', dates)
  for (const [seed, symbol] of SOAK_SYMBOLS.entries()) {
    for (const [week, start] of starts.entries()) {
      const rows = QUARTERS.map((quarter): Row => candle(start + quarter * QUARTER, seed))
      const bytes = Buffer.from(JSON.stringify(rows))
      windows.set(weekPath(symbol, dates[week]), bytes)
      putFile(root, weekPath(symbol, dates[week]), bytes)
    }
  }
  return windows
}
