import { candle, putFile, type Row } from './synthetic-tree.js'

const [QUARTER, DAY] = [900_000, 86_400_000]
const FIRST = Date.UTC(2018, 0, 1)
const WEEKS = 64

export const MANY_SYMBOLS = [
  'BTCUSDT',
  'ETHUSDT',
  'BNBUSDT',
  'ADAUSDT',
  'DOTUSDT',
  'XRPUSDT',
  'SOLUSDT',
  'LINKUSDT',
] as const

/** The candles of one symbol: two hours of each Monday, so there are gaps, with values of its own. */
export function manyRows(symbol: (typeof MANY_SYMBOLS)[number]): Row[][] {
  const seed = 100 * (1 + MANY_SYMBOLS.indexOf(symbol))
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 8 }, (_, index) => candle(FIRST + week * 7 * DAY + index * QUARTER, seed)),
  )
}

/** Writes a tree of many small 15m windows, or of the first of them. */
export function manyWindows(root: string, symbols: number = MANY_SYMBOLS.length, weeks = WEEKS): string {
  for (const symbol of MANY_SYMBOLS.slice(0, symbols)) {
    for (const rows of manyRows(symbol).slice(0, weeks)) putFile(root, manyPath(symbol, rows[0][0]), rows)
  }
  return root
}

/** The path of the window that starts at `openTime`. */
export function manyPath(symbol: string, openTime: number): string {
  return `api/klines/15m/${symbol}/${new Date(openTime).toISOString().slice(0, 10)}.json`
}
