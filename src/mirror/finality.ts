import { DAY_MS, nextOpenTime } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'

/** The service renders its files once a day; corrections were measured up to 4.5 h after a window's end. */
const LATE_MS = DAY_MS

/** What finality depends on besides the last candle. */
export interface FinalityContext {
  /** Modification time of the file, ms: Last-Modified, or the time of the download. */
  readonly mtimeMs: number
  /** Finds the latest startDate of the series whose window has candles. Called only when needed. */
  readonly lastPopulated: () => string | undefined
}

/**
 * Whether a window whose last candle opens at `lastOpenTime` (ms UTC; undefined: it has none) can change no more, so that it is never requested again: its last candle reaches the window's end; or a
 * later window of the series has candles and this one was rendered well after its own end. Without the second condition a
 * window that was downloaded half full would keep its gap forever. Independent of this machine's clock.
 */
export function isFinal(
  window: WindowRef,
  lastOpenTime: number | undefined,
  { mtimeMs, lastPopulated }: FinalityContext,
): boolean {
  const { endTime } = windowSpan(window)
  if (lastOpenTime !== undefined && nextOpenTime(window.interval, lastOpenTime) >= endTime) return true
  return isLate(window, mtimeMs) && (lastPopulated() ?? '') > window.startDate
}

/** Whether a window was rendered well after its own end, so that it is final as soon as a later one has candles. */
export function isLate(window: WindowRef, mtimeMs: number): boolean {
  return mtimeMs >= windowSpan(window).endTime + LATE_MS
}
