import { KlinesError } from './errors.js'
import { isOneOf } from './json.js'
import { nearest } from './suggest.js'

/** The candle lengths of the static service, shortest first. `1M` is a calendar month. */
export const INTERVALS = ['15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1w', '1M'] as const

/** The candle lengths that only the exchange has, and trees that were published from it. */
export const MINUTE_INTERVALS = ['1m', '3m', '5m'] as const

/** The candle lengths of the exchange that can be downloaded, shortest first. */
export const EXCHANGE_INTERVALS = [...MINUTE_INTERVALS, ...INTERVALS] as const

/** One of the twelve intervals of the static service, or of the three that only the exchange has. */
export type Interval = (typeof EXCHANGE_INTERVALS)[number]

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A length of candles or windows: a fixed one, or calendar months. */
export type Length = { readonly ms: number } | { readonly months: number }

/** Shortest first. */
export const UNITS: Readonly<Record<string, Length>> = {
  m: { ms: MINUTE_MS },
  h: { ms: HOUR_MS },
  d: { ms: DAY_MS },
  w: { ms: 7 * DAY_MS },
  M: { months: 1 },
  q: { months: 3 },
  y: { months: 12 },
}

/** The length of `45m`, `2w` or `1q`; undefined for a text of another form. */
export function parseLength(text: string): Length | undefined {
  const [, digits, unit] = /^([1-9]\d{0,4})([mhdwMqy])$/.exec(text) ?? []
  if (unit === undefined) return undefined
  const length = UNITS[unit]
  return 'ms' in length ? { ms: Number(digits) * length.ms } : { months: Number(digits) * length.months }
}

const lengths = EXCHANGE_INTERVALS.map(name => [name, parseLength(name)])
export const LENGTHS: Readonly<Record<Interval, Length>> = Object.fromEntries(lengths)

/** The time `steps` lengths after `time`, or before it; of months, the first instant of the month. All times are ms UTC. */
export function addLengths(length: Length, time: number, steps = 1): number {
  return 'ms' in length ? time + steps * length.ms : monthStart(monthIndex(time) + steps * length.months)
}

export function countLengths(length: Length, time: number, laterTime: number): number {
  if ('ms' in length) return Math.floor((laterTime - time) / length.ms)
  return Math.floor((monthIndex(laterTime) - monthIndex(time)) / length.months)
}

/** The last time at or before `time` that is whole lengths away from `anchor`. */
export function floorToLength(length: Length, anchor: number, time: number): number {
  return addLengths(length, anchor, countLengths(length, anchor, time))
}

/** 1 March 2018, ms UTC: from then on every candle of the exchange opens on the grid of its series. */
export const ALWAYS_ON_GRID = Date.UTC(2018, 2)

/**
 * Whether the exchange itself may have a candle off the grid at `openTime`, ms UTC. After some outages before March
 * 2018 it counted from the moment at which it resumed: the hours of BTCUSDT open at 28:14.789 past the hour from 9 to
 * 11 February 2018. Source: issues 14 and 77 of github.com/binance/binance-public-data.
 */
export function mayBeOffGrid(openTime: number): boolean {
  return openTime < ALWAYS_ON_GRID
}

export function isInterval(text: unknown): text is Interval {
  return isOneOf(EXCHANGE_INTERVALS, text)
}

/** Whether only the exchange has candles of this length. */
export function isMinutes(interval: Interval): boolean {
  return isOneOf(MINUTE_INTERVALS, interval)
}

/**
 * Trims `text` and returns the interval of exactly that name. Throws `unknown_interval` and suggests the nearest one;
 * `1m` (a minute) is not `1M` (a month).
 */
export function parseInterval(text: string): Interval {
  const name = text.trim()
  if (isInterval(name)) return name
  const message = `Unknown interval "${text}". Expected one of ${EXCHANGE_INTERVALS.join(', ')}.`
  throw new KlinesError('unknown_interval', message, { suggestions: suggestInterval(name), data: { interval: text } })
}

/** The error for 1m, 3m or 5m from what lacks them. `source`: its name as the start of a sentence. */
export function noMinutes(interval: Interval, source: string): KlinesError {
  const message = `${source} has no ${interval} candles. Expected one of ${INTERVALS.join(', ')}.`
  const near = interval === '1m' ? ['Did you mean 1M (a month)?'] : []
  const suggestions = ['The exchange has 1m, 3m and 5m: --base-url binance.', ...near]
  return new KlinesError('unknown_interval', message, { suggestions, data: { interval } })
}

function suggestInterval(name: string): string[] {
  if (/^\d* ?s(ec\w*)?$/i.test(name)) return ['https://data.binance.vision has candles of 1s, as daily archives.']
  const near = nearestInterval(name)
  if (near) return [`Did you mean ${near}${near === '1M' ? ' (a month)' : near === '1m' ? ' (a minute)' : ''}?`]
  const target = parseLength(name) ? name : respellLength(name)
  const length = target && parseLength(target)
  if (!length) return []
  const fits = (part: Interval) => 'ms' in length && floorToLength(LENGTHS[part], 0, length.ms) === length.ms
  const source = (['1d', '1h', '15m', '1m'] as const).find(fits) ?? '1M'
  return [`--resample ${target} makes such candles of shorter ones: -i ${source}`]
}

/** A length of people and other programs as it is written here: `90m` for `90min`, `4h` for `4H`, `6M` for `6 months`. */
export function respellLength(text: string): string | undefined {
  const [, digits, word] = /^(\d+)[ -]?([a-z]+)$/i.exec(text.trim()) ?? []
  return word && `${Number(digits)}${word === 'M' || /^mo/i.test(word) ? 'M' : word[0].toLowerCase()}`
}

/** Whether a text among symbols was meant to be an interval: `1h`, `1D`, `60min`. */
export function isIntervalWord(text: string): boolean {
  return /^\d+[a-z]{1,3}$/i.test(text) && nearestInterval(text) !== undefined
}

/** The interval that a text was most likely meant to be: `1h` for `60m`, `1H` and `hourly`. */
export function nearestInterval(name: string): Interval | undefined {
  // A number alone counts minutes, a unit alone is one.
  const whole = /^\d+$/.test(name) ? `${name}m` : /^\d/.test(name) ? name : `1${name}`
  const length = parseLength(name) ?? parseLength(respellLength(whole) ?? '')
  if (!length) return nearest(name, EXCHANGE_INTERVALS)
  // `15M` is meant to be `15m`, while `3M` may be three months.
  const isNear = (known: Interval) =>
    approximateLength(known) === addLengths(length, 0) || (known === name.toLowerCase() && !isMinutes(known))
  return EXCHANGE_INTERVALS.find(isNear)
}

/** Length of a candle in ms, of a month that of a January: to compare and to estimate. */
export function approximateLength(interval: Interval): number {
  return nextOpenTime(interval, 0)
}

/** The open time (ms UTC) that follows `openTime` when no candle is missing; for `1M` the first of the next month. */
export function nextOpenTime(interval: Interval, openTime: number): number {
  return addLengths(LENGTHS[interval], openTime)
}

/** The calendar month that contains `time` (ms UTC), counted from January of the year 0. */
export function monthIndex(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The first instant (ms UTC) of a month counted from January of the year 0. */
function monthStart(month: number): number {
  return new Date(0).setUTCFullYear(0, month, 1)
}
