import { KlinesError } from './errors.js'
import { DAY_MS, type Interval, monthIndex, monthStart } from './intervals.js'
import type { WindowRef } from './series.js'

/** How the history of an interval is cut into windows. */
interface WindowRule {
  /** Length of a window, in days or in calendar months. */
  readonly length: { readonly days: number } | { readonly months: number }
  /** The length as text. */
  readonly text: string
  /** The first and last startDate known to this version; a list that the service serves takes precedence. */
  readonly first: string
  /** Undefined for an interval that the static service does not have. */
  readonly last?: string
}

/** Before the first pairs of the exchange opened, on 14 July 2017: https://www.binance.com/en/support/announcement */
const EXCHANGE_OPENED = '2017-07-01'

/** A UTC day has 1,440, 480 or 288 candles. */
const MINUTES: WindowRule = { length: { days: 1 }, text: '1 day', first: EXCHANGE_OPENED }

const RULES: Record<Interval, WindowRule> = {
  '1m': MINUTES,
  '3m': MINUTES,
  '5m': MINUTES,
  '15m': { length: { days: 7 }, text: '7 days', first: '2024-12-30', last: '2039-12-26' },
  '30m': { length: { days: 14 }, text: '14 days', first: '2024-01-01', last: '2039-12-26' },
  '1h': { length: { months: 1 }, text: '1 month', first: '2022-01-01', last: '2039-12-01' },
  '2h': { length: { months: 2 }, text: '2 months', first: '2017-07-01', last: '2039-11-01' },
  '4h': { length: { months: 3 }, text: '3 months', first: '2017-07-01', last: '2039-10-01' },
  '6h': { length: { months: 6 }, text: '6 months', first: '2017-07-01', last: '2039-07-01' },
  '8h': { length: { months: 6 }, text: '6 months', first: '2017-07-01', last: '2039-07-01' },
  '12h': { length: { months: 12 }, text: '1 year', first: '2017-01-01', last: '2039-01-01' },
  '1d': { length: { months: 24 }, text: '2 years', first: '2016-01-01', last: '2038-01-01' },
  '3d': { length: { months: 60 }, text: '5 years', first: '2015-01-01', last: '2035-01-01' },
  '1w': { length: { months: 120 }, text: '10 years', first: '2010-01-01', last: '2030-01-01' },
  '1M': { length: { months: 240 }, text: '20 years', first: '2010-01-01', last: '2030-01-01' },
}

/** Start of the first window, ms UTC. */
const ANCHORS = Object.fromEntries(
  Object.entries(RULES).map(([interval, { first }]) => [interval, parseDate(first)]),
) as Record<Interval, number>

/** Dates have years of four digits. */
const END_OF_DATES = Date.UTC(10_000, 0)

/** The span `[startTime, endTime)` of a window, ms UTC: a candle belongs to the window in which it opens. */
export interface WindowSpan {
  readonly startTime: number
  readonly endTime: number
}

/** The length of an interval's windows as text, such as `2 months`. */
export function windowLength(interval: Interval): string {
  return RULES[interval].text
}

/** `YYYY-MM-DD` to ms UTC. Throws `bad_time` on anything that is not a real date of that form. */
export function parseDate(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN
  // Date.parse reads 2024-02-31 as 2 March; the day of a real date stays the same.
  if (!Number.isNaN(time) && new Date(time).getUTCDate() === Number(text.slice(-2))) return time
  throw new KlinesError('bad_time', `"${text}" is not a date. Expected a real day as YYYY-MM-DD.`, {
    data: { date: text },
  })
}

/** ms UTC to `YYYY-MM-DD`. */
export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The span of the window that starts on `startDate`, a day on which a window of the interval can start. */
export function windowSpan({ interval, startDate }: Pick<WindowRef, 'interval' | 'startDate'>): WindowSpan {
  const startTime = parseDate(startDate)
  const { length } = RULES[interval]
  if ('days' in length) return { startTime, endTime: startTime + length.days * DAY_MS }
  return { startTime, endTime: monthStart(monthIndex(startTime) + length.months) }
}

/**
 * Whether a window of this interval can start at `time` (ms UTC): a whole number of window lengths before or after the
 * first window of the service.
 */
export function isWindowStart(interval: Interval, time: number): boolean {
  const { length } = RULES[interval]
  const anchor = ANCHORS[interval]
  if ('days' in length) return (time - anchor) % (length.days * DAY_MS) === 0
  const month = monthIndex(time)
  return (month - monthIndex(anchor)) % length.months === 0 && time === monthStart(month)
}

/** The startDate of the window that contains `time` (ms UTC), a whole number of window lengths from the first one. */
export function startDateAt(interval: Interval, time: number): string {
  const { length } = RULES[interval]
  const anchor = ANCHORS[interval]
  if ('days' in length) {
    const step = length.days * DAY_MS
    return formatDate(anchor + Math.floor((time - anchor) / step) * step)
  }
  const month = monthIndex(anchor)
  return formatDate(monthStart(month + Math.floor((monthIndex(time) - month) / length.months) * length.months))
}

/** Whether `text` is a real day as `YYYY-MM-DD` on which a window of this interval can start. */
export function isStartDate(interval: Interval, text: string): boolean {
  try {
    return isWindowStart(interval, parseDate(text))
  } catch {
    return false
  }
}

/** The first startDate of an interval that this version knows. */
export function firstStartDate(interval: Interval): string {
  return RULES[interval].first
}

/** Every startDate of an interval that this version knows of the static service, ascending: none for 1m, 3m and 5m. */
export function knownStartDates(interval: Interval): string[] {
  const { first, last } = RULES[interval]
  return last === undefined ? [] : consecutiveStartDates(interval, first, parseDate(last))
}

/** The startDates of the windows from the one at `first` to the one that contains `time` (ms UTC), ascending. */
export function consecutiveStartDates(interval: Interval, first: string, time: number): string[] {
  const dates: string[] = []
  for (let start = parseDate(first); start <= time && start < END_OF_DATES; ) {
    const startDate = formatDate(start)
    dates.push(startDate)
    start = windowSpan({ interval, startDate }).endTime
  }
  return dates
}

/** The start date of the first window of an interval that can have candles of the exchange. */
export function firstExchangeStartDate(interval: Interval): string {
  return startDateAt(interval, Math.min(parseDate(EXCHANGE_OPENED), parseDate(firstStartDate(interval))))
}

/**
 * The start dates of an interval's windows for the whole history of the exchange, ascending: those of the published
 * tree, and before them those of the same cycle back to the window that contains 1 July 2017. Those of 1m, 3m and 5m,
 * which the published tree does not have, end with the window that contains `now`, ms UTC.
 */
export function exchangeStartDates(interval: Interval, now: number): string[] {
  const last = knownStartDates(interval).at(-1)
  const lastTime = last === undefined ? now : parseDate(last)
  return consecutiveStartDates(interval, firstExchangeStartDate(interval), lastTime)
}
