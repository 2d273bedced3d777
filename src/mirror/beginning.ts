import { exchangeMayHaveMore } from '../candles/base-url.js'
import { EXCHANGE_INTERVALS, type Interval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { firstStartDate, knownStartDates, parseDate } from '../candles/windows.js'
import type { Coverage, SeriesBeginning } from '../rows/coverage.js'
import type { Mirror } from './mirror.js'
import { firstCandle } from './status.js'

/** The first day of the exchange, as a date and in ms UTC. */
const OPENING_DATE = firstStartDate('1m')
const OPENING = parseDate(OPENING_DATE)

/**
 * What a mirror knows of the beginning of a series. `from`: where the range begins, ms UTC; left out for an open end.
 * `firstOfExchange`: when the first candle of the exchange opens, ms UTC, if it was asked for.
 */
export function seriesBeginning(
  mirror: Mirror,
  series: Series,
  from = Infinity,
  firstOfExchange?: number,
): SeriesBeginning {
  const { rules } = mirror
  const list = rules.kind === 'exchange' || from === Infinity ? undefined : findList(mirror, series.interval, from)
  return { rules, begin: firstOfExchange ?? firstCandle(mirror, series), list }
}

/** The stored list of an interval, if a range begins before it. `from`: ms UTC. */
function findList(mirror: Mirror, interval: Interval, from: number): Coverage['list'] {
  const first = mirror.startDates(interval)?.[0]
  if (first === undefined || from >= parseDate(first)) return undefined
  const parts = [`the ${interval} list of ${mirror.source ?? 'this mirror'} begins ${first}`]
  // The exchange itself has nothing before its first day.
  if (first > OPENING_DATE) {
    const older = findOlderList(mirror, first, Math.max(from, OPENING))
    if (older) parts.push(`${older.interval} candles may go back to ${older.from}`)
    if (exchangeMayHaveMore(mirror.source)) parts.push('--base-url binance may have older ones')
  }
  return { from: first, why: parts.join('; ') }
}

/** The shortest interval whose list begins before a date and reaches back to `from`, ms UTC; else the one that reaches back furthest. */
function findOlderList(mirror: Mirror, first: string, from: number) {
  const older = EXCHANGE_INTERVALS.flatMap(interval => {
    const [date] = mirror.startDates(interval) ?? knownStartDates(interval)
    return date !== undefined && date < first ? { interval, from: date } : []
  })
  const reaching = older.find(one => parseDate(one.from) <= from)
  return reaching ?? older.sort((a, b) => a.from.localeCompare(b.from)).at(0)
}
