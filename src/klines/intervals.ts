import { KlinesError } from './errors.js'
import { suggest } from './suggest.js'

/** The candle lengths of the service, shortest first (service.md, "Interval"). `1M` is a calendar month. */
export const INTERVALS = ['15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1w', '1M'] as const

/** One of the twelve intervals. */
export type Interval = (typeof INTERVALS)[number]

/** Milliseconds. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** Monday, 5 January 1970, from which weeks are counted: candles of 1w open on Mondays (observed.md, "Grids"). */
export const FIRST_MONDAY = 4 * DAY_MS

/** Length in ms of every interval that has one length; a month has none. */
const LENGTH_MS: Record<Exclude<Interval, '1M'>, number> = {
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '2h': 2 * HOUR_MS,
  '4h': 4 * HOUR_MS,
  '6h': 6 * HOUR_MS,
  '8h': 8 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
  '3d': 3 * DAY_MS,
  '1w': 7 * DAY_MS,
}

/** Other spellings seen in the wild, for suggestions only. */
const ALIASES: Record<string, Interval> = {
  '60m': '1h',
  '120m': '2h',
  '240m': '4h',
  '24h': '1d',
  '72h': '3d',
  '7d': '1w',
  '1mo': '1M',
  '1mon': '1M',
  '1month': '1M',
  month: '1M',
  monthly: '1M',
  week: '1w',
  weekly: '1w',
  day: '1d',
  daily: '1d',
  hour: '1h',
  hourly: '1h',
}

/** Whether `text` is an interval exactly as the service writes it. */
export function isInterval(text: unknown): text is Interval {
  return (INTERVALS as readonly unknown[]).includes(text)
}

/** An interval's exact name. Throws `unknown_interval` with the nearest one; `1m` (a minute) is not `1M` (a month). */
export function parseInterval(text: string): Interval {
  const name = text.trim()
  if (isInterval(name)) return name
  throw new KlinesError('unknown_interval', `Unknown interval "${text}". Expected one of ${INTERVALS.join(', ')}.`, {
    suggestions: suggestInterval(name),
    data: { interval: text },
  })
}

function suggestInterval(name: string): string[] {
  if (name === '1m') return ['1m would be one minute, which is not served; did you mean 1M (a month) or 15m?']
  const lower = name.toLowerCase()
  const alias = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined
  const near = alias ?? INTERVALS.find(known => known.toLowerCase() === lower) ?? suggest(name, INTERVALS)
  return near ? [`Did you mean ${near}?`] : []
}

/**
 * The open time that follows `openTime` (ms) when no candle is missing. For `1M` the first of the next month;
 * every other interval has a fixed length, so a 3d grid follows from its own first candle (observed.md, "Grids").
 */
export function nextOpenTime(interval: Interval, openTime: number): number {
  if (interval !== '1M') return openTime + LENGTH_MS[interval]
  const date = new Date(openTime)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** How many candles lie between two open times (ms) of one grid: 1 for neighbours, n+1 when n are missing. */
export function stepsBetween(interval: Interval, openTime: number, laterOpenTime: number): number {
  if (interval !== '1M') return Math.round((laterOpenTime - openTime) / LENGTH_MS[interval])
  const [a, b] = [new Date(openTime), new Date(laterOpenTime)]
  return (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
}
