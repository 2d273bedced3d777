import { KlinesError } from './errors.js'
import { DAY_MS, type Interval } from './intervals.js'
import type { WindowRef } from './series.js'

/** How an interval's history is cut into windows. */
interface WindowRule {
  /** Length of a window; `days` for weekly cuts, `months` for calendar cuts. */
  readonly length: { readonly days: number } | { readonly months: number }
  /** In words, for people. */
  readonly words: string
  readonly first: string
  readonly last: string
}

/** observed.md, the table of windows. The service's own list wins over `first` and `last`. */
const RULES: Record<Interval, WindowRule> = {
  '15m': {
    length: { days: 7 },
    words: '7 days',
    first: '2024-12-30',
    last: '2039-12-26',
  },
  '30m': {
    length: { days: 14 },
    words: '14 days',
    first: '2024-01-01',
    last: '2039-12-26',
  },
  '1h': {
    length: { months: 1 },
    words: '1 month',
    first: '2022-01-01',
    last: '2039-12-01',
  },
  '2h': {
    length: { months: 2 },
    words: '2 months',
    first: '2017-07-01',
    last: '2039-11-01',
  },
  '4h': {
    length: { months: 3 },
    words: '3 months',
    first: '2017-07-01',
    last: '2039-10-01',
  },
  '6h': {
    length: { months: 6 },
    words: '6 months',
    first: '2017-07-01',
    last: '2039-07-01',
  },
  '8h': {
    length: { months: 6 },
    words: '6 months',
    first: '2017-07-01',
    last: '2039-07-01',
  },
  '12h': {
    length: { months: 12 },
    words: '1 year',
    first: '2017-01-01',
    last: '2039-01-01',
  },
  '1d': {
    length: { months: 24 },
    words: '2 years',
    first: '2016-01-01',
    last: '2038-01-01',
  },
  '3d': {
    length: { months: 60 },
    words: '5 years',
    first: '2015-01-01',
    last: '2035-01-01',
  },
  '1w': {
    length: { months: 120 },
    words: '10 years',
    first: '2010-01-01',
    last: '2030-01-01',
  },
  '1M': {
    length: { months: 240 },
    words: '20 years',
    first: '2010-01-01',
    last: '2030-01-01',
  },
}

/** The span a window covers, half-open, ms UTC: a candle belongs to the window in which it opens. */
export interface WindowSpan {
  readonly startTime: number
  readonly endTime: number
}

/** A window's length in words, such as `2 months`. */
export function windowLength(interval: Interval): string {
  return RULES[interval].words
}

/** `YYYY-MM-DD` to ms UTC. Throws `bad_time` on anything that is not a real date of that form. */
export function parseDate(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN
  // Date.parse takes 2024-02-31 for 2 March; a real day comes back as it went in.
  if (!Number.isNaN(time) && new Date(time).getUTCDate() === Number(text.slice(-2))) return time
  throw new KlinesError('bad_time', `"${text}" is not a date. Expected a real day as YYYY-MM-DD.`, {
    data: { date: text },
  })
}

/** ms UTC to `YYYY-MM-DD`. */
export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The span of the window that starts on `startDate`: a day that windows of this interval start on. */
export function windowSpan({ interval, startDate }: Pick<WindowRef, 'interval' | 'startDate'>): WindowSpan {
  const startTime = parseDate(startDate)
  const { length } = RULES[interval]
  if ('days' in length) return { startTime, endTime: startTime + length.days * DAY_MS }
  const end = new Date(startTime)
  return { startTime, endTime: end.setUTCMonth(end.getUTCMonth() + length.months) }
}

/**
 * Whether a window of this interval can start at `time` (ms UTC): a Monday of the interval's own cycle, or the first
 * of a month of it. The anchor is the first window in observed.md; earlier and later ones follow from it.
 */
export function isWindowStart(interval: Interval, time: number): boolean {
  const { length, first } = RULES[interval]
  const anchor = new Date(parseDate(first))
  if ('days' in length) return (time - anchor.getTime()) % (length.days * DAY_MS) === 0
  const date = new Date(time)
  const months = (date.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + date.getUTCMonth() - anchor.getUTCMonth()
  return months % length.months === 0 && time === Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

/** Whether a window of this interval can have this startDate: a real day, on which one can start. */
export function isStartDate(interval: Interval, text: string): boolean {
  try {
    return isWindowStart(interval, parseDate(text))
  } catch {
    return false
  }
}

/** Every startDate of an interval, ascending, as the service lists them today (service.md rule 3, observed.md). */
export function knownStartDates(interval: Interval): string[] {
  const { first, last } = RULES[interval]
  const dates: string[] = []
  for (let date = first; date <= last; date = formatDate(windowSpan({ interval, startDate: date }).endTime)) {
    dates.push(date)
  }
  return dates
}
