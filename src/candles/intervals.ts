import { KlinesError } from './errors.js'
import { isOneOf } from './json.js'
import { suggest } from './suggest.js'

/** The candle lengths of the static service, shortest first. `1M` is a calendar month. */
export const INTERVALS = ['15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1w', '1M'] as const

/** The candle lengths that only the exchange has, and trees that were published from it. */
export const MINUTE_INTERVALS = ['1m', '3m', '5m'] as const

/** The candle lengths of the exchange that can be downloaded, shortest first. */
export const EXCHANGE_INTERVALS = [...MINUTE_INTERVALS, ...INTERVALS] as const

/** One of the twelve intervals of the static service, or of the three that only the exchange has. */
export type Interval = (typeof EXCHANGE_INTERVALS)[number]
export type MinuteInterval = (typeof MINUTE_INTERVALS)[number]

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** Monday, 5 January 1970, ms UTC: candles of whole weeks are counted from it. */
export const FIRST_MONDAY = 4 * DAY_MS

/** Milliseconds of the units that have a fixed length. */
export const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const

/** Length in ms of every interval with a fixed length. */
const LENGTH_MS = Object.fromEntries(
  EXCHANGE_INTERVALS.map(name => [name, Number(name.slice(0, -1)) * UNIT_MS[name.slice(-1) as keyof typeof UNIT_MS]]),
) as Record<Exclude<Interval, '1M'>, number>

/** 1 March 2018, ms UTC: from then on every candle of the exchange opens on the grid of its series. */
export const ALWAYS_ON_GRID = Date.UTC(2018, 2)

/**
 * Whether the exchange itself may have a candle off the grid at `openTime`, ms UTC. After some outages before March
 * 2018 it counted from the moment at which it resumed: the hours of BTCUSDT open at 28:14.789 past the hour from 9 to
 * 11 February 2018, and its minutes are some seconds late from 4 to 17 December 2017. Source: issues 14 and 77 of
 * github.com/binance/binance-public-data.
 */
export function mayBeOffGrid(openTime: number): boolean {
  return openTime < ALWAYS_ON_GRID
}

const SECONDS =
  'Candles of 1s are too many for a tree of files; https://data.binance.vision has them as daily archives.'

/** Units as people write them, in minutes and in lower case; for suggestions only. */
const UNITS: readonly [RegExp, number][] = [
  [/^(m|mins?|minutes?)?$/, 1],
  [/^(h|hrs?|hours?|hourly)$/, 60],
  [/^(d|days?|daily)$/, 24 * 60],
  [/^(w|wks?|weeks?|weekly)$/, 7 * 24 * 60],
]

/** Whether `text` is an interval exactly as the service or the exchange writes it. */
export function isInterval(text: unknown): text is Interval {
  return isOneOf(EXCHANGE_INTERVALS, text)
}

/** Whether only the exchange has candles of this length. */
export function isMinutes(interval: Interval): interval is MinuteInterval {
  return (MINUTE_INTERVALS as readonly Interval[]).includes(interval)
}

/**
 * Trims `text` and returns the interval of exactly that name. Throws `unknown_interval` and suggests the nearest one;
 * `1m` (a minute) is not `1M` (a month).
 */
export function parseInterval(text: string): Interval {
  const name = text.trim()
  if (isInterval(name)) return name
  throw new KlinesError(
    'unknown_interval',
    `Unknown interval "${text}". Expected one of ${EXCHANGE_INTERVALS.join(', ')}.`,
    {
      suggestions: suggestInterval(name),
      data: { interval: text },
    },
  )
}

function suggestInterval(name: string): string[] {
  const lower = name.toLowerCase()
  if (/^1? ?(s|secs?|seconds?)$/.test(lower)) return [SECONDS]
  const near = nearestInterval(name)
  const resampled = suggestLength(name)
  if (resampled.length > 0 && parseLength(lower) === undefined) return resampled
  return near ? [`Did you mean ${near}?`] : resampled
}

/** The interval that a text was most likely meant to be: `1h` for `60m` and `1H`. */
export function nearestInterval(name: string): Interval | undefined {
  const lower = name.toLowerCase()
  if (/^1? ?(mo|mon|months?|monthly)$/.test(lower)) return '1M'
  const length = parseLength(lower)
  if (length === undefined) return suggest(name, EXCHANGE_INTERVALS)
  return EXCHANGE_INTERVALS.find(known => known !== '1M' && LENGTH_MS[known] === length)
}

/** How candles of a length that is no interval are made. */
function suggestLength(name: string): string[] {
  const [, digits, unit = ''] = /^([1-9]\d{0,3})([mhdwMqy])$/.exec(name) ?? []
  const source = { m: Number(digits) % 15 === 0 ? '15m' : '1m', h: '1h', d: '1d', w: '1d', M: '1M', q: '1M', y: '1M' }[
    unit
  ]
  return source === undefined ? [] : [`--resample ${name} makes such candles of shorter ones: -i ${source}`]
}

/** The length of `60`, `60m`, `1h` or `hourly` in ms: a number alone counts minutes, a unit alone is one. */
function parseLength(text: string): number | undefined {
  const [, digits = '', word = ''] = /^(\d{0,6}) ?([a-z]*)$/.exec(text) ?? []
  const minutes = UNITS.find(([unit]) => unit.test(word))?.[1]
  return minutes === undefined || digits + word === '' ? undefined : Number(digits || 1) * minutes * MINUTE_MS
}

/** Length of a candle in ms, of a month that of a January: to compare and to estimate. */
export function approximateLength(interval: Interval): number {
  return nextOpenTime(interval, 0)
}

/** The open time (ms UTC) that follows `openTime` when no candle is missing; for `1M` the first of the next month. */
export function nextOpenTime(interval: Interval, openTime: number): number {
  return interval === '1M' ? monthStart(monthIndex(openTime) + 1) : openTime + LENGTH_MS[interval]
}

/**
 * How many whole candles fit between two open times (ms UTC): 1 for neighbours, n+1 when n candles are missing. A rest,
 * beside a candle off the grid, is too short for a candle.
 */
export function stepsBetween(interval: Interval, openTime: number, laterOpenTime: number): number {
  if (interval === '1M') return monthIndex(laterOpenTime) - monthIndex(openTime)
  return Math.floor((laterOpenTime - openTime) / LENGTH_MS[interval])
}

/** The calendar month that contains `time` (ms UTC), counted from January of the year 0. */
export function monthIndex(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The first instant (ms UTC) of a month counted from January of the year 0. */
export function monthStart(month: number): number {
  return new Date(0).setUTCFullYear(0, month, 1)
}
