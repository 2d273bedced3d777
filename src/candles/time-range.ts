import { UTCDateMini } from '@date-fns/utc/date/mini'
import { sub } from 'date-fns/sub'
import { KlinesError } from './errors.js'
import { DAY_MS, respellLength } from './intervals.js'
import { type Series, type WindowRef, windowOf } from './series.js'
import { didYouMean } from './suggest.js'
import { formatTime } from './text.js'
import { timeOfDate, windowSpan } from './windows.js'

/** The open times in `[fromTime, toTime)`, ms UTC. `-Infinity` and `Infinity` are open ends. */
export interface TimeRange {
  readonly fromTime: number
  readonly toTime: number
}

export interface RequestedRange extends TimeRange {
  /** The ends that the request names, ms UTC; of a range that reaches back from the present, the present is its end. */
  readonly named: { readonly from: number | undefined; readonly to: number | undefined }
  /** Whether the named end moves on with the present. */
  readonly endMoves: boolean
  /** The present, ms UTC. */
  readonly now: number
  /** See `describeRange`. */
  readonly text: string
}

/** How long the newest candles of a range that ends now may lack: a static service is refreshed once a day. */
export const MAY_LAG_MS = 2 * DAY_MS

/** A point in time: a text, a number of ms since the epoch, or a date. */
export type TimeText = string | number | Date

export interface RangeText {
  /**
   * The first open time, in UTC unless it has an offset: `2024`, `2024-01`, `2024-01-31`, `2024-01-31T12:00Z`; `now`,
   * `today`, `yesterday`; `-7d` (before now: a number and m, h, d, w, M or y, where `m` is a minute); as text, a Unix time of 10 digits (s) or 13
   * digits (ms). A number is ms since the epoch.
   */
  readonly from?: TimeText | undefined
  /** The end of the open times, which is not part of the range; in the forms of `from`. */
  readonly to?: TimeText | undefined
  /** A length of time before `to`, or before now without `to`: `90d`, with the units of `from`. */
  readonly last?: string | undefined
}

const FORMS =
  'Expected YYYY, YYYY-MM, YYYY-MM-DD or an ISO instant such as 2024-01-01T12:00Z (times are UTC); now, today, yesterday or -7d (m, h, d, w, M, y); or a Unix time of 10 digits (s) or 13 digits (ms)'
const LENGTH = /^([1-9]\d{0,5})([mhdwMy])$/
const DAY = /^\d{4}(-\d{2}){0,2}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i

/** A point in time, in the forms of `RangeText`, as ms UTC. Throws `bad_time` on other forms and invalid days. */
export function parseInstant(text: TimeText, now: number): number {
  if (typeof text !== 'string') {
    const ms = Number(text)
    const isSeconds = typeof text === 'number' && ms > 1e9 && ms < 1e10
    if (Number.isInteger(ms) && !Number.isNaN(new Date(ms).getTime()) && !isSeconds) return ms
    throw badTime(String(text), isSeconds ? ' A number is ms, which would be in 1970.' : '')
  }
  const trimmed = text.trim()
  const relative = parseRelative(trimmed, now)
  if (relative !== undefined) return relative
  if (/^\d{10}$/.test(trimmed)) return Number(trimmed) * 1000
  if (/^\d{13}$/.test(trimmed)) return Number(trimmed)
  const instant = INSTANT.exec(trimmed)
  if (!instant && !DAY.test(trimmed)) throw badTime(text)
  const day = timeOfDate(`${trimmed}-01-01`.slice(0, 10))
  if (day === undefined) throw badTime(text, ' There is no such day.')
  if (!instant) return day
  const zoned = instant[3] ? trimmed : `${trimmed}Z`
  const time = Date.parse(zoned.toUpperCase().replace(' ', 'T'))
  if (Number.isNaN(time)) throw badTime(text)
  return time
}

/** The time that lies a duration such as `90d` before `end` (ms UTC), by the calendar. Throws `bad_time`. */
export function timeBefore(end: number, duration: string): number {
  const [, digits, unit = ''] = LENGTH.exec(duration.trim()) ?? []
  const name = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks', M: 'months', y: 'years' }[unit]
  const time = name === undefined ? Number.NaN : sub(new UTCDateMini(end), { [name]: Number(digits) }).getTime()
  if (!Number.isNaN(time)) return time
  const expected = 'Expected a number and m, h, d, w, M or y: 90d.'
  const suggestions = didYouMean(duration, respellLength(duration), length => timeBefore(end, length))
  throw new KlinesError('bad_time', `"${duration}" is not a length of time. ${expected}`, { suggestions })
}

/**
 * The range that `from`, `to` and `last` describe; `last` counts back from `to`, else from `now` (ms UTC). Throws
 * `bad_time`, and `bad_range` when the range is empty or both `from` and `last` are given.
 */
export function parseRange({ from, to, last }: RangeText, now: number): TimeRange {
  if (from !== undefined && last !== undefined) {
    throw new KlinesError('bad_range', '--from and --last both say where the range starts. Expected one of them.')
  }
  const toTime = to === undefined ? Infinity : parseInstant(to, now)
  const start = from === undefined ? -Infinity : parseInstant(from, now)
  const fromTime = last === undefined ? start : timeBefore(to === undefined ? now : toTime, last)
  if (fromTime >= toTime) {
    const ends = [fromTime, toTime].map(time => new Date(time).toISOString()).join(' to ')
    const message = `The range is empty: from ${ends}. Expected --from before --to, which is exclusive.`
    throw new KlinesError('bad_range', message)
  }
  return { fromTime, toTime }
}

/** The same range, and which of its ends the text names. Throws like `parseRange`. */
export function parseRequestedRange(text: RangeText, now: number): RequestedRange {
  const range = parseRange(text, now)
  const { from, to, last } = text
  const isFromNow = last !== undefined && to === undefined
  return {
    ...range,
    named: {
      from: from === undefined && last === undefined ? undefined : range.fromTime,
      to: isFromNow ? now : to === undefined ? undefined : range.toTime,
    },
    endMoves: isFromNow || isRelative(to),
    now,
    text: describeRange(text),
  }
}

/** Whether the range that a text describes moves on with the present. */
export function isRelativeRange({ from, to, last }: RangeText): boolean {
  return isRelative(from) || isRelative(to) || (last !== undefined && to === undefined)
}

/** The range as an ISO 8601 interval, with `..` for an open end: `2024-01-01T00:00:00.000Z/..`. */
export function formatRange({ fromTime, toTime }: TimeRange): string {
  return [fromTime, toTime].map(time => (Number.isFinite(time) ? new Date(time).toISOString() : '..')).join('/')
}

/**
 * A range as lakes and files keep it: an ISO 8601 interval; one that moves with the present is the text of the request,
 * such as `last 90d` or `from -7d to today`. Throws like `parseRange`.
 */
export function describeRange({ from, to, last }: RangeText): string {
  if (!isRelativeRange({ from, to, last })) return formatRange(parseRange({ from, to, last }, 0))
  const words = Object.entries({ from, last, to }).filter(([, text]) => text !== undefined)
  return words
    .map(([name, text]) => `${name} ${typeof text === 'string' ? text.trim() : new Date(Number(text)).toISOString()}`)
    .join(' ')
}

/** `Requested 2024-01-01 00:00 to 2024-02-01 00:00 UTC` */
export function describeRequested({ named: { from, to } }: RequestedRange): string {
  if (from === undefined && to === undefined) return 'You asked for all candles'
  if (to === undefined) return `You asked for candles from ${formatTime(from)} UTC on`
  return `You asked for ${from === undefined ? 'candles up' : formatTime(from)} to ${formatTime(to)} UTC`
}

/** The windows of some dates that overlap a range and have begun by `present`, ms UTC. */
export function planWindows(
  series: Series,
  dates: readonly string[],
  { fromTime, toTime }: TimeRange,
  present: number,
): WindowRef[] {
  const windows = [...new Set(dates)].sort().map(startDate => windowOf(series, startDate))
  return windows.filter(window => {
    const { startTime, endTime } = windowSpan(window)
    return endTime > fromTime && startTime < toTime && startTime <= present
  })
}

function isRelative(text: TimeText | undefined): boolean {
  return typeof text === 'string' && parseRelative(text.trim(), 0) !== undefined
}

function parseRelative(text: string, now: number): number | undefined {
  const midnight = Math.floor(now / DAY_MS) * DAY_MS
  const word = text.toLowerCase()
  if (word === 'now') return now
  if (word === 'today') return midnight
  if (word === 'yesterday') return midnight - DAY_MS
  return text.startsWith('-') && LENGTH.test(text.slice(1)) ? timeBefore(now, text.slice(1)) : undefined
}

function badTime(text: string, reason = ''): KlinesError {
  const suggestions = didYouMean(text, guessInstant(text.trim()), time => parseInstant(time, 0))
  const message = `"${text}" is not a point in time.${reason} ${FORMS}.`
  return new KlinesError('bad_time', message, { suggestions, data: { time: text } })
}

/** `2025-01-31` for `20250131` and `2025/1/31`; `-7d` for `7d` and `7 days ago`. */
function guessInstant(text: string): string | undefined {
  const length = respellLength(text.replace(/^-| ago$/g, ''))
  if (length) return `-${length}`
  const [, year, month, day] = /^(\d{4})[-/.]?(\d\d?)[-/.]?(\d\d?)$/.exec(text) ?? []
  return year && [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-')
}
