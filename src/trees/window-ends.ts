import { DAY_MS, nextOpenTime } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'

/** Windows of the public service are rendered once a day; corrections were measured up to 4.5 h after a window's end. */
export const LATE_MS = DAY_MS

/** The first and the last candle of a window, ms UTC; undefined: it has none. */
export interface WindowEnds {
  readonly firstOpenTime?: number | undefined
  readonly lastOpenTime?: number | undefined
}

/** What the service said about a version of a window. */
export interface WindowTimes {
  /** When the service made it, ms UTC: its Last-Modified. Of the exchange, its clock when it sent it. */
  readonly time: number
  /** When the service last sent it, ms UTC, by the earlier of its clock and this machine's. */
  readonly confirmed: number
}

/** What the file of a window says without being read. `time`: when the service rendered it, ms UTC. */
export interface RenderedFile {
  readonly isEmpty: boolean
  readonly time: number
}

/** Whether a window has its first and its last candle. The first one of 3d and 1w need not open at its start. */
export function spansWindow(window: WindowRef, { firstOpenTime, lastOpenTime }: WindowEnds): boolean {
  const { startTime } = windowSpan(window)
  if (firstOpenTime === undefined || firstOpenTime >= nextOpenTime(window.interval, startTime)) return false
  return reachesEnd(window, lastOpenTime)
}

/** Whether the last candle of a window, which opens at `lastOpenTime` (ms UTC), is the last one that the window can have. */
export function reachesEnd(window: WindowRef, lastOpenTime: number | undefined): boolean {
  return lastOpenTime !== undefined && nextOpenTime(window.interval, lastOpenTime) >= windowSpan(window).endTime
}

/** Whether a window that was rendered at `time` (ms UTC) may have got candles by `now`: it has begun or ended since. */
export function mayHaveGrown(window: WindowRef, { isEmpty, time }: RenderedFile, now: number): boolean {
  const { startTime, endTime } = windowSpan(window)
  const isPassed = (moment: number) => time < moment && moment <= now
  return isPassed(endTime) || (isEmpty && isPassed(startTime))
}

/** Whether a window was rendered at `time` (ms UTC) well after its own end, so that no candle of it changes any more. */
export function isLate(window: WindowRef, time: number): boolean {
  return time >= windowSpan(window).endTime + LATE_MS
}
