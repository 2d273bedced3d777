import type { Kernel } from '../kernel/kernel.js'
import type { WindowRef } from '../series.js'
import { type WindowSpan, windowSpan } from '../windows.js'
import { parseJsonWindow } from './json-parser.js'
import type { KlineBatch } from './kline-batch.js'
import { indexRows } from './row-index.js'

/**
 * The rows of a window file.
 *
 * Accepts exactly what `JSON.parse` plus the row rules accept (service.md "Kline row", design of the codec): an array of
 * arrays of 12; elements 0, 6 and 8 integers within +-(2^53-1), the others strings; elements 1 to 5, 7, 9 and 10
 * decimals `\d+(\.\d+)?`; open times strictly ascending and inside the window; close time at or after open time.
 * The wire form of the service is indexed in place; any other legal JSON goes through `JSON.parse`.
 *
 * With a kernel of one's own the batch's index lies in it: it costs no memory, and is good until that is used again.
 *
 * Throws `bad_window` that names row and element.
 */
export function decodeWindow(bytes: Uint8Array, window: WindowRef, own?: Kernel): KlineBatch {
  const span: WindowSpan = windowSpan(window)
  return indexRows(bytes, window, span, own) ?? parseJsonWindow(bytes, window, span)
}
