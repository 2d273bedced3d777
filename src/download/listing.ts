import type { Listing } from '../klines/audit/coverage.js'
import { DAY_MS, EXCHANGE_INTERVALS, nextOpenTime } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { parseDate, type WindowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The first candle that is known of a series. */
interface FirstCandle extends WindowSpan {
  /** Whether the source had room for an earlier one, in its window or in an earlier one without candles. */
  readonly isFirst: boolean
}

/**
 * Since when a symbol was traded, by the first candles that the mirror has or had at each interval, and the listing date if the rules
 * of the tree know it. Long candles open before the listing, so what counts is the last one to open of those that were open at once.
 */
export function findListing(mirror: Mirror, symbol: SymbolName): Listing {
  const firsts = EXCHANGE_INTERVALS.flatMap(interval => findFirst(mirror, { symbol, interval }) ?? [])
  const date = mirror.rules.listing(symbol)
  if (date !== undefined) firsts.push({ startTime: date, endTime: date + DAY_MS, isFirst: true })
  const tradedBefore = Math.min(...firsts.map(({ endTime }) => endTime))
  const open = firsts.filter(({ startTime }) => startTime < tradedBefore)
  if (open.length === 0) return { earliest: undefined, isFirst: false }
  return {
    earliest: Math.max(...open.map(({ startTime }) => startTime)),
    isFirst: open.some(({ isFirst }) => isFirst),
  }
}

function findFirst(mirror: Mirror, series: Series): FirstCandle | undefined {
  const recorded = mirror.record.seriesCandles(series)?.firstOpenTime ?? Infinity
  const [firstDate] = mirror.contents.startDates(series)
  const cached = findFirstCached(mirror, series) ?? Infinity
  const startTime = Math.min(recorded, cached)
  if (startTime === Infinity) return undefined
  const { interval } = series
  const isFirst = firstDate !== undefined && nextOpenTime(interval, parseDate(firstDate)) <= startTime
  return { startTime, endTime: nextOpenTime(interval, startTime), isFirst }
}

/** When the first cached candle of a series opens, ms UTC: the first number of its window. Nothing is decoded, which takes memory. */
function findFirstCached(mirror: Mirror, series: Series): number | undefined {
  const startDate = mirror.contents.firstPopulated(series)
  const file = startDate === undefined ? undefined : mirror.files.read(windowPath(windowOf(series, startDate)))
  const [, time] = file?.state === 'file' ? (/^\s*\[\s*\[\s*(\d{1,15})\s*,/.exec(headOf(file.bytes)) ?? []) : []
  return time === undefined ? undefined : Number(time)
}

/** When the newest candle opens that the mirror has or had of a series, ms UTC. */
export function findNewest(mirror: Mirror, series: Series): number | undefined {
  const recorded = mirror.record.seriesCandles(series)?.lastOpenTime ?? -Infinity
  const startDate = mirror.contents.lastPopulated(series)
  const file = startDate === undefined ? undefined : mirror.files.read(windowPath(windowOf(series, startDate)))
  const [, time] =
    file?.state === 'file' ? (/\[\s*(\d{1,15})\s*,[^[\]]*\]\s*\]\s*$/.exec(tailOf(file.bytes)) ?? []) : []
  const newest = Math.max(recorded, time === undefined ? -Infinity : Number(time))
  return newest === -Infinity ? undefined : newest
}

function headOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 100))
}

function tailOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(-1_000))
}
