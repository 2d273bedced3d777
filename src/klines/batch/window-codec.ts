import { KlinesError } from '../errors.js'
import { type Kernel, sharedKernel } from '../kernel/kernel.js'
import { type WindowRef, windowName } from '../series.js'
import { windowSpan } from '../windows.js'
import { BorrowedBatch } from './borrowed-batch.js'
import { parseJsonWindow } from './json-parser.js'
import { KlineBatch } from './kline-batch.js'

/**
 * The rows of a window file.
 *
 * Accepts exactly what `JSON.parse` and the rules of rows accept: an array of arrays of 12; elements 0, 6 and 8 integers
 * within +-(2^53-1), the others strings; elements 1 to 5, 7, 9 and 10 decimals `\d+(\.\d+)?`; open times strictly ascending
 * and inside the window; close time at or after open time. The wire form of the service is indexed in place; any other legal
 * JSON goes through `JSON.parse`.
 *
 * The batch keeps `bytes`. Throws `bad_window`, which names row and element.
 */
export function decodeWindow(bytes: Uint8Array, window: WindowRef): KlineBatch {
  const span = windowSpan(window)
  const index = sharedKernel().index(bytes, span)
  if (!index) return parseJsonWindow(bytes, window, span)
  return new KlineBatch(
    label(window),
    { ...index, offsets: index.offsets.slice(), numbers: index.numbers.slice() },
    true,
  )
}

/**
 * The largest window accepted from the network, bytes, several times the 139,569 of the largest known: a body of 16 MiB can take
 * hundreds of megabytes when its rows are parsed.
 */
const MAX_BODY_BYTES = 1024 * 1024

/** The same for a body from the network, at most 1 MiB. */
export function decodeWindowBody(bytes: Uint8Array, window: WindowRef): KlineBatch {
  if (bytes.length <= MAX_BODY_BYTES) return decodeWindow(bytes, window)
  const reason = `the body is no list of rows: it has ${bytes.length} bytes, expected at most ${MAX_BODY_BYTES}`
  throw new KlinesError('bad_window', `${windowName(window)}: ${reason}`)
}

/**
 * The rows of a window file without a copy: the batch is borrowed from `kernel` when `bytes` are in the wire form. They should lie in the
 * kernel's own buffer.
 */
export function borrowWindow(bytes: Uint8Array, window: WindowRef, kernel: Kernel): KlineBatch {
  const span = windowSpan(window)
  const index = kernel.index(bytes, span)
  return index ? new BorrowedBatch(label(window), index, true, kernel) : parseJsonWindow(bytes, window, span)
}

/** The series alone: a batch does not say which window its rows are from. */
function label({ symbol, interval }: WindowRef) {
  return { symbol, interval }
}
