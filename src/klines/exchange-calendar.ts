import type { Interval } from './intervals.js'
import {
  consecutiveStartDates,
  EXCHANGE_OPENED,
  firstStartDate,
  knownStartDates,
  parseDate,
  startDateAt,
} from './windows.js'

/** The start date of the first window of an interval that can have candles of the exchange. */
export function firstExchangeStartDate(interval: Interval): string {
  return startDateAt(interval, Math.min(parseDate(EXCHANGE_OPENED), parseDate(firstStartDate(interval))))
}

/**
 * The start dates of an interval's windows for the whole history of the exchange, ascending: those of the published tree, and
 * before them those of the same cycle back to the window that contains 1 July 2017. Those of 1m, 3m and 5m, which the published
 * tree does not have, end with the window that contains the `present`, ms UTC.
 */
export function exchangeStartDates(interval: Interval, present: number): string[] {
  const last = knownStartDates(interval).at(-1)
  const lastTime = last === undefined ? present : parseDate(last)
  return consecutiveStartDates(interval, firstExchangeStartDate(interval), lastTime)
}
