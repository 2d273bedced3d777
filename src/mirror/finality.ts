import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { DAY_MS, nextOpenTime } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'

/** The service is rendered once a day, and was seen to mend a window up to 4.5 h after its end (observed.md). */
const LATE_MS = DAY_MS

/** What is known of a window that is held, besides its rows. */
export interface CachedState {
  /** Modification time of the file, ms: what the service called Last-Modified, else when it was fetched. */
  readonly mtimeMs: number
  /** The latest startDate of the same series that holds candles, undefined when none does; asked only when needed. */
  readonly lastPopulated: () => string | undefined
}

/**
 * Whether a window can change no more, so that it is never requested again: its last candle reaches the window's end;
 * or a later window of the series holds candles and this one was rendered well after its own end. The second half
 * matters: a window fetched half full, and not seen again until a later one was fetched, would otherwise keep its hole
 * for good. Independent of this machine's clock.
 */
export function isFinal(window: WindowRef, batch: KlineBatch, { mtimeMs, lastPopulated }: CachedState): boolean {
  const { endTime } = windowSpan(window)
  const last = batch.length - 1
  if (last >= 0 && nextOpenTime(window.interval, batch.openTime(last)) >= endTime) return true
  return isLate(window, mtimeMs) && (lastPopulated() ?? '') > window.startDate
}

/** Whether a window was rendered well after its own end, so that it is final as soon as a later one holds candles. */
export function isLate(window: WindowRef, mtimeMs: number): boolean {
  return mtimeMs >= windowSpan(window).endTime + LATE_MS
}
