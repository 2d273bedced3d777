import { KlinesError } from './errors.js'
import { addLengths, EXCHANGE_INTERVALS, floorToLength, type Interval, type Length, parseLength } from './intervals.js'
import type { WindowRef } from './series.js'

/** The times of real dates: a run of thousands of windows asks for each of some hundred dates again and again. */
const DATE_TIMES = new Map<string, number>()

/** The static service has none of these. */
const MINUTES = ['1 day', '2017-07-01'] as const

/** The windows of an interval: their length, and the first and last startDate of the static service. */
const WINDOWS: Record<Interval, readonly [length: string, first: string, last?: string]> = {
  '1m': MINUTES,
  '3m': MINUTES,
  '5m': MINUTES,
  '15m': ['7 days', '2024-12-30', '2039-12-26'],
  '30m': ['14 days', '2024-01-01', '2039-12-26'],
  '1h': ['1 month', '2022-01-01', '2039-12-01'],
  '2h': ['2 months', '2017-07-01', '2039-11-01'],
  '4h': ['3 months', '2017-07-01', '2039-10-01'],
  '6h': ['6 months', '2017-07-01', '2039-07-01'],
  '8h': ['6 months', '2017-07-01', '2039-07-01'],
  '12h': ['1 year', '2017-01-01', '2039-01-01'],
  '1d': ['2 years', '2016-01-01', '2038-01-01'],
  '3d': ['5 years', '2015-01-01', '2035-01-01'],
  '1w': ['10 years', '2010-01-01', '2030-01-01'],
  '1M': ['20 years', '2010-01-01', '2030-01-01'],
}

const CYCLES = Object.fromEntries(
  EXCHANGE_INTERVALS.map(interval => {
    const [text, first] = WINDOWS[interval]
    const [, number, unit] = /^(\d+) ([a-z])/.exec(text) ?? []
    return [interval, { length: parseLength(number + (unit === 'm' ? 'M' : unit)), anchor: parseDate(first) }]
  }),
) as Record<Interval, { readonly length: Length; readonly anchor: number }>

/** The span `[startTime, endTime)` of a window, ms UTC: a candle belongs to the window in which it opens. */
export interface WindowSpan {
  readonly startTime: number
  readonly endTime: number
}

/** Such as `2 months`. */
export function windowLength(interval: Interval): string {
  return WINDOWS[interval][0]
}

/** `YYYY-MM-DD` to ms UTC; undefined for anything that is not a real date of that form. */
export function timeOfDate(text: string): number | undefined {
  const known = DATE_TIMES.get(text)
  if (known !== undefined) return known
  const time = Date.parse(`${text}T00:00:00.000Z`)
  // Date.parse reads 2024-02-31 as 2 March.
  if (Number.isNaN(time) || formatDate(time) !== text) return undefined
  DATE_TIMES.set(text, time)
  return time
}

/** The same; throws `bad_time` on anything else. */
export function parseDate(text: string): number {
  const time = timeOfDate(text)
  if (time !== undefined) return time
  const message = `"${text}" is not a date. Expected a real day as YYYY-MM-DD.`
  throw new KlinesError('bad_time', message, { data: { time: text } })
}

/** ms UTC to `YYYY-MM-DD`. */
export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The span of a window. Throws `bad_time` for a start date that is not one. */
export function windowSpan({ interval, startDate }: Pick<WindowRef, 'interval' | 'startDate'>): WindowSpan {
  const startTime = parseDate(startDate)
  return { startTime, endTime: addLengths(CYCLES[interval].length, startTime) }
}

/** The startDate of the window that contains `time`, ms UTC: whole lengths before or after the first one of the service. */
export function startDateAt(interval: Interval, time: number): string {
  return formatDate(windowStart(interval, time))
}

function windowStart(interval: Interval, time: number): number {
  const { length, anchor } = CYCLES[interval]
  return floorToLength(length, anchor, time)
}

/** Whether `text` is a real day as `YYYY-MM-DD` on which a window of this interval can start. */
export function isStartDate(interval: Interval, text: string): boolean {
  const time = timeOfDate(text)
  return time !== undefined && windowStart(interval, time) === time
}

/** The first startDate of an interval that this version knows. */
export function firstStartDate(interval: Interval): string {
  return WINDOWS[interval][1]
}

/** Every startDate of an interval that this version knows of the static service, ascending: none for 1m, 3m and 5m. */
export function knownStartDates(interval: Interval): string[] {
  const [, first, last] = WINDOWS[interval]
  return last === undefined ? [] : consecutiveStartDates(interval, first, parseDate(last))
}

/** The startDates of the windows from the one at `first` to the one that contains `time` (ms UTC), ascending. */
export function consecutiveStartDates(interval: Interval, first: string, time: number): string[] {
  const dates: string[] = []
  const { length } = CYCLES[interval]
  for (let start = parseDate(first); start <= time; start = addLengths(length, start)) dates.push(formatDate(start))
  return dates
}

/**
 * The startDates of the whole history of a market that `opened` on a day, ascending, in the cycle of the static service. Those of 1m, 3m
 * and 5m end with the window that contains `now`, ms UTC.
 */
export function exchangeStartDates(interval: Interval, opened: string, now: number): string[] {
  const [, , last] = WINDOWS[interval]
  const lastTime = last === undefined ? now : parseDate(last)
  return consecutiveStartDates(interval, startDateAt(interval, parseDate(opened)), lastTime)
}
