import type { KlineRow } from '../../../src/candles/columns.js'
import { lowerBound, nextOpenTime } from '../exchange/market.js'
import { aggregateOracle, toAmount } from './resample-oracle.js'

/** The candles of a series whose windows are loaded in these spans, `[start, end)` in ms UTC. */
export interface OracleSeries {
  readonly interval: string
  readonly rows: readonly KlineRow[]
  readonly spans: readonly (readonly [start: number, end: number])[]
  /** Whether coarser candles consist of whole candles of this series. */
  readonly fitsInto: (coarser: string) => boolean
  /** The open times of all candles that the series could have in its windows, ascending. */
  readonly times: readonly number[]
  /** When candles may be missing, `[start, end)`: candles before and after show it. ms UTC. */
  readonly known: readonly [start: number, end: number]
}

/** What a series is known to have: from its first candle to its last one. */
export function wholeSpan(interval: string, rows: readonly KlineRow[]): [start: number, end: number] {
  const [first, last] = [rows[0], rows[rows.length - 1]]
  return last === undefined ? [Infinity, -Infinity] : [first[0], nextOpenTime(interval, last[0])]
}

const COLUMNS = {
  ...{
    open: 1,
    high: 2,
    low: 3,
    close: 4,
    volume: 5,
    quote_volume: 7,
    taker_buy_volume: 9,
    taker_buy_quote_volume: 10,
  },
  ...{ close_time: 6, count: 8, ignore: 11 },
}

/** The candles that are missing between two candles, in windows that are loaded: start, end and number of each gap. */
export function findGapsOracle({ interval, rows, spans, times, known }: OracleSeries): number[][] {
  const open = new Set(rows.map(([openTime]) => openTime))
  const gaps: number[][] = []
  for (const time of times) {
    if (time < known[0] || nextOpenTime(interval, time) > known[1] || open.has(time)) continue
    if (!spans.some(([from, to]) => time >= from && time < to)) continue
    const gap = gaps.at(-1)
    if (gap?.[1] === time) gap.splice(1, 2, nextOpenTime(interval, time), gap[2] + 1)
    else gaps.push([time, nextOpenTime(interval, time), 1])
  }
  return gaps
}

/** Every comparison of a series with a finer one: the open time, and the columns that differ; `['candle']` if one has none. */
export function compareOracle(finer: OracleSeries, coarser: OracleSeries): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const time of coarser.times) {
    const end = nextOpenTime(coarser.interval, time)
    const row = coarser.rows[lowerBound(coarser.rows, time)]
    const isThere = row !== undefined && row[0] === time
    // A candle that closes early needs no more than that.
    const neededTo = isThere ? row[6] + 1 : end
    if (!covers(finer, time, neededTo) || !covers(coarser, time, neededTo)) continue
    const parts = finer.rows.slice(lowerBound(finer.rows, time), lowerBound(finer.rows, end))
    if (parts.length === 0 && !isThere) continue
    found.set(time, parts.length > 0 && isThere ? differing(row, aggregateOracle(time, parts)) : ['candle'])
  }
  return found
}

/** Whether a series is loaded from `start` to `end`; nothing is known after the end of the known time. */
function covers({ spans, known }: OracleSeries, start: number, end: number): boolean {
  if (end > known[1]) return false
  let reached = start
  for (const [from, to] of spans) if (from <= reached && to > reached) reached = to
  return reached >= end
}

function differing(row: KlineRow, aggregate: readonly (string | number)[]): string[] {
  return Object.entries(COLUMNS).flatMap(([name, column]) => {
    const [value, expected] = [row[column], aggregate[column]]
    return value === expected || toAmount(value) === toAmount(expected) ? [] : [name]
  })
}

/** Whether a candle closes in time, and trades can have made its values; without a trade, prices are flat and volumes zero. */
export function isPossible(interval: string, row: KlineRow): boolean {
  const [openTime, open, high, low, close, volume, closeTime, quote, count, taker, takerQuote] = row
  if (closeTime >= nextOpenTime(interval, openTime)) return false
  const chains = [
    [low, open, high],
    [low, close, high],
    ['0', taker, volume],
    ['0', takerQuote, quote],
  ]
  if (count === 0) chains.push([high, low], [volume, '0'], [quote, '0'])
  else if (!isTradedAt(low, high, volume, quote) || !isTradedAt(low, high, taker, takerQuote)) return false
  return chains.every(cells => cells.every((cell, index) => index === 0 || !isLess(cell, cells[index - 1])))
}

/** Whether a volume was traded for the other one at prices from low to high, above 0; but for a millionth of rounding. */
function isTradedAt(low: string, high: string, volume: string, quote: string): boolean {
  const [least, most] = [low, high].map(price => Number(price) * Number(volume))
  const rounding = 1e-8
  const isBetween = Number(quote) >= least * (1 - 1e-6) - rounding && Number(quote) <= most * (1 + 1e-6) + rounding
  return isBetween && (Number(volume) === 0 || Number(low) > 0)
}

function isLess(cell: string, other: string): boolean {
  const [a, b] = [toAmount(cell), toAmount(other)]
  return a.length < b.length || (a.length === b.length && a < b)
}
