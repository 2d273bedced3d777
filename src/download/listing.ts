import type { Allocate } from '../fs/read-file.js'
import type { Listing } from '../klines/audit/coverage.js'
import { DAY_MS, EXCHANGE_INTERVALS, nextOpenTime } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { parseDate, type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The first candle that is known of a series. */
interface FirstCandle extends WindowSpan {
  /** Whether the source had room for earlier ones: several in its window, or an earlier window without candles. */
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
  const startDates = mirror.contents.startDates(series)
  const cached = findFirstCached(mirror, series, startDates) ?? Infinity
  const startTime = Math.min(recorded, cached)
  if (startTime === Infinity) return undefined
  const { interval } = series
  // A single candle may be missing for another reason.
  const [first] = startDates
  const second = first === undefined ? Infinity : nextOpenTime(interval, nextOpenTime(interval, parseDate(first)))
  const isFirst = second <= startTime
  return { startTime, endTime: nextOpenTime(interval, startTime), isFirst }
}

/** When the first cached candle of a series opens, ms UTC: the first number of its window, of which only the beginning is read. */
function findFirstCached(mirror: Mirror, series: Series, startDates: string[]): number | undefined {
  const startDate = mirror.contents.firstPopulated(series, startDates)
  return readTime(mirror, series, startDate, /^\s*\[\s*\[\s*(\d{1,15})\s*,/, size =>
    Buffer.allocUnsafe(Math.min(size, 100)),
  )
}

/** When the newest candle opens that the mirror has or had of a series, ms UTC. */
export function findNewest(mirror: Mirror, series: Series): number | undefined {
  const recorded = mirror.record.seriesCandles(series)?.lastOpenTime ?? -Infinity
  const time = readTime(mirror, series, mirror.contents.lastPopulated(series), /\[\s*(\d{1,15})\s*,[^[\]]*\]\s*\]\s*$/)
  const newest = Math.max(recorded, time ?? -Infinity)
  return newest === -Infinity ? undefined : newest
}

/** The open time that a pattern finds in a window, if it lies in it: a corrupt file says nothing. */
function readTime(
  mirror: Mirror,
  series: Series,
  startDate: string | undefined,
  pattern: RegExp,
  allocate?: Allocate,
): number | undefined {
  if (startDate === undefined) return undefined
  const window = windowOf(series, startDate)
  const file = mirror.files.read(windowPath(window), allocate)
  // The decoder drops a byte order mark.
  const text = file.state === 'file' ? new TextDecoder().decode(file.bytes.subarray(-1_000)) : ''
  const time = Number(pattern.exec(text)?.[1])
  const { startTime, endTime } = windowSpan(window)
  return time >= startTime && time < endTime ? time : undefined
}
