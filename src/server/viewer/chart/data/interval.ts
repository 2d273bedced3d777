/** The candle lengths of the exchange, shortest first. `1M` is a calendar month. */
export const INTERVALS = [
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '6h',
  '8h',
  '12h',
  '1d',
  '3d',
  '1w',
  '1M',
] as const

export type Interval = (typeof INTERVALS)[number]

/** Those of the static service. */
export const STATIC_INTERVALS: readonly Interval[] = INTERVALS.slice(3)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Monday, 5 January 1970, ms UTC: weeks are counted from it. */
const FIRST_MONDAY = 4 * DAY_MS

const UNIT_MS = { m: HOUR_MS / 60, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }

/** The name of an interval in the paths of files: `1m` and `1M` are one name on some disks. */
export function intervalSegment(interval: Interval): string {
  return interval === '1m' ? '1min' : interval
}

export function isInterval(text: string): text is Interval {
  return (INTERVALS as readonly string[]).includes(text)
}

/** Length of a candle in ms; of a month about. */
export function lengthMs(interval: Interval): number {
  return fixedLengthMs(interval) ?? 30 * DAY_MS
}

/** Length of a candle in ms; undefined for calendar months. */
function fixedLengthMs(interval: Interval): number | undefined {
  if (interval === '1M') return undefined
  return Number.parseInt(interval, 10) * UNIT_MS[interval.slice(-1) as keyof typeof UNIT_MS]
}

/** The open time (ms UTC) that follows `openTime` when no candle is missing. */
export function nextOpenTime(interval: Interval, openTime: number): number {
  return laterOpenTime(interval, openTime, 1)
}

/** The open time (ms UTC) that is so many candles later. */
export function laterOpenTime(interval: Interval, openTime: number, steps: number): number {
  const length = fixedLengthMs(interval)
  return length === undefined ? monthStart(monthIndex(openTime) + steps) : openTime + steps * length
}

/** How many whole candles fit between two open times (ms UTC): 1 for neighbours. */
export function stepsBetween(interval: Interval, openTime: number, laterOpenTime: number): number {
  const length = fixedLengthMs(interval)
  if (length === undefined) return monthIndex(laterOpenTime) - monthIndex(openTime)
  return Math.floor((laterOpenTime - openTime) / length)
}

/**
 * When the first candle that starts at or after `time` opens, ms UTC. `anchor`: the open time of any candle of a 3d series,
 * since these are counted from the listing of their symbol.
 */
export function firstOpenTime(interval: Interval, anchor: number, time: number): number {
  const length = fixedLengthMs(interval)
  if (length === undefined) {
    const start = monthStart(monthIndex(time))
    return start === time ? time : monthStart(monthIndex(time) + 1)
  }
  const origin = interval === '3d' ? anchor : interval === '1w' ? FIRST_MONDAY : 0
  return origin + Math.ceil((time - origin) / length) * length
}

/** Calendar months since January 1970. */
function monthIndex(time: number): number {
  const date = new Date(time)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

function monthStart(month: number): number {
  return Date.UTC(1970, month)
}
