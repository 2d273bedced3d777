import { exchangeMayHaveMore } from '../candles/base-url.js'
import { EXCHANGE_INTERVALS, type Interval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { firstExchangeStartDate, knownStartDates, parseDate, startDateAt } from '../candles/windows.js'
import type { ListBeginning, SeriesBeginning } from '../rows/coverage.js'
import type { Mirror } from './mirror.js'
import { firstCandle, knownDates } from './status.js'

/** The first day of the exchange, as a date and in ms UTC. */
const OPENING_DATE = firstExchangeStartDate('1m')
const OPENING = parseDate(OPENING_DATE)

interface AskedRange {
  /** Where the range begins, ms UTC; undefined for an open end. */
  readonly from: number | undefined
  /** The present, ms UTC. */
  readonly now: number
  /** When the first candle of the exchange opens, ms UTC, if it was asked for. */
  readonly firstOfExchange?: number | undefined
}

/** What a mirror knows of the beginning of a series. */
export function seriesBeginning(
  mirror: Mirror,
  series: Series,
  { from, now, firstOfExchange = Infinity }: AskedRange,
): SeriesBeginning {
  const cached = firstCandle(mirror, series) ?? Infinity
  const first = mirror.rules.kind === 'exchange' ? Math.min(cached, firstOfExchange) : cached
  const begin = first === Infinity ? undefined : first
  if (from === undefined || mirror.rules.kind === 'exchange') return { begin }
  const emptyFrom = begin === undefined ? undefined : findEmptyFrom(mirror, series, begin, now)
  return { begin, emptyFrom, list: findList(mirror, series.interval, from) }
}

/**
 * From when on a series surely has no candle before its first cached one, ms UTC: from its empty windows on. Where none is cached before
 * that candle, nobody knows, unless its window is the first one of the list.
 */
function findEmptyFrom(mirror: Mirror, series: Series, begin: number, now: number): number {
  const { interval } = series
  const cached = new Set(mirror.dates(series))
  const own = startDateAt(interval, begin)
  let earliest = own
  for (let date = own; cached.has(date); date = startDateAt(interval, parseDate(date) - 1)) earliest = date
  const isKnown = earliest < own || own === knownDates(mirror, interval, now)[0]
  return isKnown ? parseDate(earliest) : begin
}

/** The stored list of an interval, if a range begins before it. `from`: ms UTC. */
function findList(mirror: Mirror, interval: Interval, from: number): ListBeginning | undefined {
  const first = mirror.startDates(interval)?.[0]
  if (first === undefined || from >= parseDate(first)) return undefined
  // The exchange itself has nothing before its first day.
  const isOlder = first > OPENING_DATE
  return {
    interval,
    source: mirror.source ?? mirror.root,
    from: first,
    older: isOlder ? findOlderList(mirror, first, Math.max(from, OPENING)) : undefined,
    isExchangeOlder: isOlder && exchangeMayHaveMore(mirror.source),
  }
}

/** The shortest interval whose list begins before a date and reaches back to `from`, ms UTC; else the one that reaches back furthest. */
function findOlderList(mirror: Mirror, first: string, from: number): ListBeginning['older'] {
  const older = EXCHANGE_INTERVALS.flatMap(interval => {
    const [date] = mirror.startDates(interval) ?? knownStartDates(interval)
    return date !== undefined && date < first ? { interval, from: date } : []
  })
  const reaching = older.find(one => parseDate(one.from) <= from)
  return reaching ?? older.sort((a, b) => a.from.localeCompare(b.from)).at(0)
}
