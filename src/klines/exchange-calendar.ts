import type { Interval } from './intervals.js'
import { DAY_MS } from './intervals.js'
import { consecutiveStartDates, formatDate, isWindowStart, knownStartDates, parseDate } from './windows.js'

/** The exchange opened in July 2017: https://www.binance.com/en/support/announcement, the first of its pairs on the 14th. */
const FIRST_DAY = parseDate('2017-07-01')

/** The start date of the first window of an interval that can have candles of the exchange. */
export function firstExchangeStartDate(interval: Interval): string {
  let first = Math.min(FIRST_DAY, parseDate(knownStartDates(interval)[0]))
  while (!isWindowStart(interval, first)) first -= DAY_MS
  return formatDate(first)
}

/**
 * The start dates of an interval's windows for the whole history of the exchange, ascending: those of the published tree, and
 * before them those of the same cycle back to the window that contains 1 July 2017.
 */
export function exchangeStartDates(interval: Interval): string[] {
  const published = knownStartDates(interval)
  return consecutiveStartDates(interval, firstExchangeStartDate(interval), parseDate(published[published.length - 1]))
}
