import { DAY_MS, type Interval, nextOpenTime } from '../candles/intervals.js'
import { decodeUtf8 } from '../candles/json.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import type { KlineBatch } from './kline-batch.js'
import { decodeWindow } from './window-codec.js'

/** How long after its end a candle may still change, ms: the published tree has candles that were fetched 13 s after it. */
export const SETTLING_MS = 15_000

/** A window as a file, and its rows. */
export interface RenderedWindow {
  readonly bytes: Uint8Array
  readonly batch: KlineBatch
}

/** Whether a candle can change no more at `time`, ms UTC. One that closes early waits for its end: an outage may still be mended. */
export function isClosed(interval: Interval, openTime: number, closeTime: number, time: number): boolean {
  return Math.max(closeTime + 1, nextOpenTime(interval, openTime)) + SETTLING_MS <= time
}

/** When a candle of an interval closes next, behind `time`, and can change no more; ms UTC. Candles of several days end with a day too. */
export function nextSettled(interval: Interval, time: number): number {
  const step = Math.min(nextOpenTime(interval, 0), DAY_MS)
  return (Math.floor((time - SETTLING_MS) / step) + 1) * step + SETTLING_MS
}

/** Renders an answer of the exchange as the published tree has it: the compact JSON of the rows that are closed at `time`, ms UTC. */
export function renderWindow(body: Buffer, window: WindowRef, time: number): RenderedWindow {
  const batch = decodeWindow(body, window)
  let rows = batch.length
  while (rows > 0 && !isClosed(window.interval, batch.openTime(rows - 1), batch.closeTime(rows - 1), time)) rows--
  const bytes = Buffer.from(JSON.stringify((JSON.parse(decodeUtf8(body)) as unknown[]).slice(0, rows)))
  return { bytes, batch: decodeWindow(bytes, window) }
}

/** The rows of an answer, and those of the next one, which follow them. */
export function joinRows(before: RenderedWindow, next: RenderedWindow, window: WindowRef): RenderedWindow {
  if (next.batch.length === 0) return before
  const bytes = Buffer.concat([before.bytes.subarray(0, -1), Buffer.from(','), next.bytes.subarray(1)])
  return { bytes, batch: decodeWindow(bytes, window) }
}

/** Whether a window may have more candles that are closed at `time` (ms UTC) than those of an answer; one without rows is the last. */
export function hasMoreRows(rows: KlineBatch, window: WindowRef, time: number): boolean {
  if (rows.length === 0) return false
  const openTime = nextOpenTime(window.interval, rows.openTime(rows.length - 1))
  return openTime < windowSpan(window).endTime && isClosed(window.interval, openTime, openTime, time)
}
