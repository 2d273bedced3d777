import { type Interval, nextOpenTime } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { OFFSETS_PER_ROW } from '../rows/wasm/assembly/layout.js'
import { decodeWindow } from '../rows/window-codec.js'

/** How long after its end a candle may still change, ms: the published tree has candles that were fetched 13 s after it. */
export const SETTLING_MS = 15_000

/** The file of a window, and its rows. */
export interface RenderedWindow {
  readonly bytes: Buffer
  readonly value: KlineBatch
}

/**
 * Whether a candle can change no more at `time`, the exchange's clock (ms UTC). A candle that closes early waits for the end of
 * its interval: an outage may still be mended.
 */
export function isClosed(interval: Interval, openTime: number, closeTime: number, time: number): boolean {
  return Math.max(closeTime + 1, nextOpenTime(interval, openTime)) + SETTLING_MS <= time
}

/**
 * Renders the answer to a `windowQuery` as the published tree has it: the compact JSON of the closed rows. `time`: the Date of
 * the answer, ms UTC. Throws `bad_window` for an answer that is no window, open candle included.
 */
export function renderWindow(body: Buffer, window: WindowRef, time: number): RenderedWindow {
  const batch = decodeWindow(body, window)
  let rows = batch.length
  while (rows > 0 && !isClosed(window.interval, batch.openTime(rows - 1), batch.closeTime(rows - 1), time)) rows--
  // The codec reads the exchange's compact JSON in place, and any other JSON from a copy.
  const isCompact = batch.bytes === body
  if (isCompact && rows === batch.length) return { bytes: body, value: batch }
  const bytes = isCompact ? cutRows(body, batch, rows) : Buffer.from(JSON.stringify(toRows(body, rows)))
  return { bytes, value: decodeWindow(bytes, window) }
}

/** The rows of an answer, and those of the next one after them. Throws `bad_window` when they do not follow. */
export function joinRows(before: RenderedWindow, next: RenderedWindow, window: WindowRef): RenderedWindow {
  if (next.value.length === 0) return before
  const bytes = Buffer.concat([before.bytes.subarray(0, -1), Buffer.from(','), next.bytes.subarray(1)])
  return { bytes, value: decodeWindow(bytes, window) }
}

/**
 * Whether a window may have more closed candles than those of an answer: the next one of the grid opens in it and is over at
 * `time`, the Date of the answer (ms UTC). An answer without closed rows is the last one.
 */
export function hasMoreRows(rows: KlineBatch, window: WindowRef, time: number): boolean {
  if (rows.length === 0) return false
  const openTime = nextOpenTime(window.interval, rows.openTime(rows.length - 1))
  return openTime < windowSpan(window).endTime && isClosed(window.interval, openTime, openTime, time)
}

/** The first rows of a compact body. */
function cutRows(body: Buffer, batch: KlineBatch, rows: number): Buffer {
  if (rows === 0) return Buffer.from('[]')
  // The last cell of a row ends before `"]`.
  const end = batch.offsets[rows * OFFSETS_PER_ROW - 1] + 2
  return Buffer.concat([body.subarray(0, end), Buffer.from(']')])
}

function toRows(body: Buffer, rows: number): unknown[] {
  const all: unknown[] = JSON.parse(new TextDecoder().decode(body))
  return all.slice(0, rows)
}
