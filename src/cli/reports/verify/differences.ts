import type { Difference } from '../../../klines/audit/compare-series.js'
import type { Interval } from '../../../klines/intervals.js'
import { formatTime } from '../../../klines/text.js'

const MAX_WIDTH = 80

/** A difference, and every finer interval that shows it. */
export interface CandleDifference extends Omit<Difference, 'finer'> {
  readonly finer: Interval[]
}

/** Merges the same difference from several finer intervals; order stays. */
export function mergeDifferences(differences: readonly Difference[]): CandleDifference[] {
  const merged = new Map<string, CandleDifference>()
  for (const { finer, ...difference } of differences) {
    const key = Object.values(difference).join()
    const found = merged.get(key)
    if (found) found.finer.push(finer)
    else merged.set(key, { ...difference, finer: [finer] })
  }
  return [...merged.values()]
}

/** The candle, its value and the expected one, in one line or two. */
export function describeDifference(difference: CandleDifference): string {
  const { column, value, expected, finer } = difference
  const name = candleName(difference)
  const from = finer.join(', ')
  if (column === undefined) return joinParts(`${name}: ${value},`, `but ${expected} (${from})`)
  return joinParts(`${name} ${column}: ${value},`, `expected ${expected} (${from})`)
}

/** Both parts in one line, or the second one indented in a line of its own. */
export function joinParts(first: string, second: string): string {
  return first.length + 1 + second.length <= MAX_WIDTH ? `${first} ${second}` : `${first}\n    ${second}`
}

/** `BTCUSDT 1h 2024-01-01 12:00`, and with seconds for a candle that opens within a minute. */
export function candleName(candle: { symbol: string; interval: string; openTime: number }): string {
  return `${candle.symbol} ${candle.interval} ${exactTime(candle.openTime)}`
}

/** `2024-01-01 12:00`, with seconds where there are any. */
export function exactTime(time: number): string {
  if (time % 60_000 === 0) return formatTime(time)
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '')
}
