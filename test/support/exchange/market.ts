import type { KlineRow } from '../../../src/candles/columns.js'
import type { FuturesMarket } from '../futures/futures-market.js'
import { INTERVAL_LENGTHS } from '../oracles/intervals.js'

/** What an exchange trades. */
export interface Market {
  /** Every symbol that was ever traded, in the exchange's order. */
  symbols(): readonly string[]
  /** The final candles of a series, ascending; undefined when there are none. They may reach beyond the exchange's clock. */
  rows(symbol: string, interval: string): readonly KlineRow[] | undefined
  /** Whether a symbol still trades after its last row: then a candle is open. */
  isTrading?(symbol: string): boolean
  /** What USD-M futures answer, on paths of their own; a market without it is spot's. */
  readonly futures?: FuturesMarket
}

/** The clock of an exchange in tests: the real slice, which ends with the 15m candle of 04:00, is complete at this time. */
export const EXCHANGE_NOW = Date.UTC(2026, 3, 30, 4, 20)

/** The intervals of the exchange that have no place in the tree. */
const FINE_LENGTHS = [
  ['1s', 1000],
  ['1m', 60_000],
  ['3m', 180_000],
  ['5m', 300_000],
] as const

const LENGTHS = new Map<string, number>([...FINE_LENGTHS, ...INTERVAL_LENGTHS])

/** The intervals that the exchange has, finest first; 1M is a calendar month. */
export const EXCHANGE_INTERVALS: readonly string[] = [...LENGTHS.keys(), '1M']

/** The open time of the candle after the one that opens at `openTime`. */
export function nextOpenTime(interval: string, openTime: number): number {
  const length = LENGTHS.get(interval)
  if (length !== undefined) return openTime + length
  const date = new Date(openTime)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** The index of the first row that opens at `time` or later. */
export function lowerBound(rows: readonly KlineRow[], time: number): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle][0] < time) low = middle + 1
    else high = middle
  }
  return low
}
