import { DAY_MS, HOUR_MS, MINUTE_MS, nextOpenTime } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'
import type { WindowTimes } from './record-lines.js'

/** The service renders its files once a day; corrections were measured up to 4.5 h after a window's end. */
const LATE_MS = DAY_MS

/** The first and the last candle of a window, ms UTC; undefined: it has none. */
export interface WindowEnds {
  readonly firstOpenTime?: number | undefined
  readonly lastOpenTime?: number | undefined
}

/** How long after the first answer a second one proves something. */
export const SECOND_ANSWER_MS = HOUR_MS

/** What finality depends on besides the last candle. */
export interface FinalityContext {
  /** When the window was rendered, ms UTC; undefined when that is not known. */
  readonly time: number | undefined
  /** Finds the latest startDate of the series whose window has candles. Called only when needed. */
  readonly lastPopulated: () => string | undefined
}

/**
 * Whether a window with these candles can change no more, so that it is never requested again: its last candle reaches the window's end; or a later window of the series has candles and this one was
 * rendered well after its own end. Without the second condition a window that was downloaded half full would keep its gap forever.
 * Independent of this machine's clock.
 */
export function isFinal(
  window: WindowRef,
  { lastOpenTime }: WindowEnds,
  { time, lastPopulated }: FinalityContext,
): boolean {
  if (reachesEnd(window, lastOpenTime)) return true
  return time !== undefined && isLate(window, time) && (lastPopulated() ?? '') > window.startDate
}

/**
 * The same for a window of the exchange, where a day after the end of a window no candle changes any more: it has candles from its start
 * to its end, or two answers agree that it has no more. Of one whose times are not known, its candles decide.
 */
export function isFinalOfExchange(window: WindowRef, ends: WindowEnds, times: WindowTimes | undefined): boolean {
  if (times === undefined) return spansWindow(window, ends)
  return isLate(window, times.confirmed) && !needsSecondAnswer(window, ends, times)
}

/**
 * Whether a window of the exchange, a day after its end, lacks candles by one answer alone: for some minutes the exchange may answer
 * `[]`, half of the candles, or a first one that is too late. The second answer has to come an hour after the first one.
 */
export function needsSecondAnswer(window: WindowRef, ends: WindowEnds, { time, confirmed }: WindowTimes): boolean {
  return isLate(window, confirmed) && !spansWindow(window, ends) && confirmed - time < SECOND_ANSWER_MS
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

/** Whether a window was rendered well after its own end, so that it is final as soon as a later one has candles. */
export function isLate(window: WindowRef, time: number): boolean {
  return time >= windowSpan(window).endTime + LATE_MS
}

/**
 * Until when a recorded version of a window has all candles that closed, ms UTC. The exchange has them at once, but only those that
 * closed 15 s ago are stored; a static service renders candles that it got before.
 */
export function settledTime(isOfExchange: boolean, { time, confirmed }: WindowTimes): number {
  return isOfExchange ? confirmed - MINUTE_MS : time - LATE_MS
}
