import { CandleTimes, mayBeOffGrid } from '../candles/candle-times.js'
import { KlinesError } from '../candles/errors.js'
import { nextOpenTime } from '../candles/intervals.js'
import { type Series, type WindowRef, windowName } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import { parseJsonWindow, type RowRules } from './json-parser.js'
import { KlineBatch } from './kline-batch.js'
import { NUMBERS_PER_ROW } from './wasm/assembly/layout.js'
import { type IndexedRows, type Kernel, sharedKernel } from './wasm/kernel.js'

/**
 * The rows of a window file.
 *
 * Accepts exactly what `JSON.parse` and the rules of rows accept: an array of arrays of 12; elements 0, 6 and 8 integers
 * within +-(2^53-1), the others strings; elements 1 to 5, 7, 9 and 10 decimals `\d+(\.\d+)?`; open times strictly ascending,
 * inside the window and on the grid of the series (before March 2018 the exchange itself has candles off it); close times from
 * the open time to the last millisecond of the candle; no negative count. The wire form of the service is indexed in place; any
 * other legal JSON goes through `JSON.parse`.
 *
 * `anchor`: when any candle of a 3d series opens, ms UTC; without it, the first row sets the grid of a 3d window. The batch keeps
 * `bytes`. Throws `bad_window`, which names row and element.
 */
export function decodeWindow(bytes: Uint8Array, window: WindowRef, anchor?: number): KlineBatch {
  const rules = rowRules(window, anchor)
  const index = indexWindow(bytes, rules, sharedKernel())
  if (!index) return parseJsonWindow(bytes, window, rules)
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
 * The rows of a window file without a copy: they lie in the memory of `kernel` if `bytes` are in the wire form, and are valid until
 * the kernel reads another window. `bytes` should lie there too.
 */
export function decodeInPlace(bytes: Uint8Array, window: WindowRef, kernel: Kernel, anchor?: number): KlineBatch {
  const rules = rowRules(window, anchor)
  const index = indexWindow(bytes, rules, kernel)
  return index ? new KlineBatch(label(window), index, true, kernel) : parseJsonWindow(bytes, window, rules)
}

function rowRules(window: WindowRef, anchor: number | undefined): RowRules {
  return { span: windowSpan(window), times: new CandleTimes(window.interval, anchor) }
}

/** Indexes valid rows in the wire form of the service; undefined for anything else. */
function indexWindow(bytes: Uint8Array, { span, times }: RowRules, kernel: Kernel): IndexedRows | undefined {
  const index = kernel.index(bytes, span, times.fixedGrid)
  return index && (times.fixedGrid || hasValidTimes(index, times)) ? index : undefined
}

/** Checks what the kernel cannot check without a fixed grid. */
function hasValidTimes({ numbers }: IndexedRows, times: CandleTimes): boolean {
  for (let i = 0; i < numbers.length; i += NUMBERS_PER_ROW) {
    if (times.findFault(numbers[i], numbers[i + 1])) return false
  }
  return true
}

/** The series alone: a batch does not say which window its rows are from. */
function label({ symbol, interval }: WindowRef) {
  return { symbol, interval }
}

/** A stretch of candles off the grid is close to the candle before it and to the one after it. */
const ENDS_OF_STRETCH = 2

/**
 * The first row that opens before the one before it should end, if most rows do: the window belongs to a finer series. Looks at
 * the time in which the exchange itself may have candles off the grid. Undefined when there is none.
 */
export function findFinerRow(batch: KlineBatch): number | undefined {
  // The batch of a window has an interval of the service.
  const { interval } = batch.series as Series
  const closeRows: number[] = []
  let row = 1
  for (; row < batch.length && mayBeOffGrid(batch.openTime(row)); row++) {
    if (batch.openTime(row) < nextOpenTime(interval, batch.openTime(row - 1))) closeRows.push(row)
  }
  return closeRows.length > ENDS_OF_STRETCH && 2 * closeRows.length >= row ? closeRows[0] : undefined
}
