import { COLUMN_KINDS, COLUMNS, type KlineRow, ROW_LENGTH } from '../candles/columns.js'
import { type ErrorData, KlinesError } from '../candles/errors.js'
import { DAY_MS, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import { decodeUtf8 } from '../candles/json.js'
import { type WindowRef, windowName } from '../candles/series.js'
import { showValue } from '../candles/text.js'
import { type WindowSpan, windowSpan } from '../candles/windows.js'
import { buildSeriesGrid, type CandleGrid } from './candle-grid.js'
import { BatchBuilder, KlineBatch } from './kline-batch.js'
import { NUMBERS_PER_ROW } from './wasm/assembly/layout.js'
import { type IndexedRows, type Kernel, sharedKernel } from './wasm/kernel.js'

/**
 * The rows of a window file.
 *
 * Accepts exactly what `JSON.parse` and the rules of rows accept: an array of arrays of 12; elements 0, 6 and 8
 * integers within +-(2^53-1), the others strings; elements 1 to 5, 7, 9 and 10 decimals `\d+(\.\d+)?`; open times
 * strictly ascending, inside the window and on the grid of the series (before March 2018 the exchange itself has
 * candles off it); close times from the open time to the last millisecond of the candle; no negative count. The wire
 * form of the service is indexed in place; any other legal JSON goes through `JSON.parse`.
 *
 * `anchor`: when any candle of a 3d series opens, ms UTC; without it, the first row sets the grid of a 3d window. The
 * batch keeps `bytes`. Throws `bad_window`, which names row and element.
 */
export function decodeWindow(bytes: Uint8Array, window: WindowRef, anchor?: number): KlineBatch {
  const batch = decodeInPlace(bytes, window, sharedKernel(), anchor)
  if (batch.kernel === undefined) return batch
  const { series, offsets, numbers, plain } = batch
  return new KlineBatch(series, bytes, offsets.slice(), numbers.slice(), plain)
}

/**
 * The same without a copy: rows in the wire form lie in the memory of `kernel`, until it reads another window. `bytes` should
 * lie there too.
 */
export function decodeInPlace(bytes: Uint8Array, window: WindowRef, kernel: Kernel, anchor?: number): KlineBatch {
  // A batch does not say which window its rows are from.
  const series = { symbol: window.symbol, interval: window.interval }
  if (isEmptyList(bytes)) return KlineBatch.empty(series)
  const rules = new RowRules(window, anchor)
  const { grid, span } = rules
  const index = kernel.index(bytes, span, grid?.step, grid?.anchor)
  if (index && (grid?.step !== undefined || hasValidTimes(index, rules)))
    return new KlineBatch(series, bytes, index.offsets, index.numbers, true, kernel)
  const rows = new BatchBuilder(series)
  for (const row of checkRows(parseJson(bytes, window), new RowRules(window, anchor))) {
    // Adding 0 turns -0, which JSON allows, into 0.
    rows.add(row.map(String), [row[0] + 0, row[6] + 0, row[8] + 0])
  }
  return rows.take() ?? KlineBatch.empty(series)
}

/** Most windows of a tree are `[]`: those of the future, and before a listing. */
function isEmptyList(bytes: Uint8Array): boolean {
  return bytes.length === 2 && bytes[0] === 0x5b && bytes[1] === 0x5d
}

function hasValidTimes({ numbers }: IndexedRows, rules: RowRules): boolean {
  let row = 0
  while (row < numbers.length && !rules.findTimeFault(numbers[row], numbers[row + 1])) row += NUMBERS_PER_ROW
  return row >= numbers.length
}

interface RowFault {
  readonly element?: number
  readonly what: string
}

/** Which times rows may have: open times in the span of their window, on the grid, and close times of their candles. */
class RowRules {
  readonly span: WindowSpan
  /** Undefined for 3d while no candle is known: the first row at midnight sets it, and the others open all three days. */
  grid: CandleGrid | undefined

  constructor(
    readonly window: WindowRef,
    anchor: number | undefined,
  ) {
    this.span = windowSpan(window)
    const isKnown = window.interval !== '3d' || (anchor !== undefined && anchor % DAY_MS === 0)
    if (isKnown) this.grid = buildSeriesGrid(window, anchor)
  }

  findTimeFault(openTime: number, closeTime: number): RowFault | undefined {
    if (openTime % DAY_MS === 0) this.grid ??= buildSeriesGrid(this.window, openTime)
    if (this.grid?.offset(openTime) !== 0 && !mayBeOffGrid(openTime)) {
      const other = formatInstant(this.grid?.start(openTime) ?? openTime - (openTime % DAY_MS))
      const what = `${formatInstant(openTime)} is not on the grid of its series, where a candle opens at ${other}`
      return { element: 0, what }
    }
    if (closeTime < openTime) {
      return { element: 6, what: `${formatInstant(closeTime)} is before the open time, ${formatInstant(openTime)}` }
    }
    const lastTime = nextOpenTime(this.window.interval, openTime) - 1
    if (closeTime <= lastTime) return undefined
    const end = formatInstant(lastTime)
    return { element: 6, what: `${formatInstant(closeTime)} is after the end of the candle, ${end}` }
  }
}

function parseJson(bytes: Uint8Array, window: WindowRef): unknown {
  let text: string | undefined
  try {
    text = decodeUtf8(bytes)
    return JSON.parse(text)
  } catch (cause) {
    const found = text === undefined ? 'not UTF-8 text' : `not JSON (it starts with ${showValue(text)})`
    throw badWindow(window, text === '' ? 'the body is empty' : `the body is ${found}`, { kind: 'not_json' }, cause)
  }
}

/** The only place that says what is wrong with a window: every rule, row by row. */
function checkRows(value: unknown, rules: RowRules): KlineRow[] {
  const { window } = rules
  if (!Array.isArray(value)) throw badWindow(window, `expected an array of rows, got ${showValue(value)}`)
  let previous = -Infinity
  for (const [index, row] of value.entries()) {
    const fault = findRowFault(row, previous, rules)
    if (fault) {
      const element = fault.element === undefined ? '' : `, element ${fault.element} (${COLUMNS[fault.element]})`
      throw badWindow(window, `row ${index}${element}: ${fault.what}`, { row: index, ...fault })
    }
    previous = row[0]
  }
  return value
}

function findRowFault(row: unknown, previous: number, rules: RowRules): RowFault | undefined {
  if (!Array.isArray(row)) return { what: `expected an array, got ${showValue(row)}` }
  if (row.length !== ROW_LENGTH) return { what: `expected ${ROW_LENGTH} elements, got ${row.length}` }
  for (const [element, cell] of row.entries()) {
    const what = findCellFault(cell, element)
    if (what) return { element, what }
  }
  const { startTime, endTime } = rules.span
  const [openTime, closeTime] = [row[0], row[6]]
  if (openTime < startTime || openTime >= endTime) {
    const span = `${formatInstant(startTime)} to ${formatInstant(endTime)}`
    return { element: 0, what: `${formatInstant(openTime)} is outside the window, ${span}` }
  }
  if (openTime > previous) return rules.findTimeFault(openTime, closeTime)
  const before = formatInstant(previous)
  return { element: 0, what: `${formatInstant(openTime)} does not come after the row before, ${before}` }
}

const DECIMAL = /^\d+(\.\d+)?$/

function findCellFault(cell: unknown, element: number): string | undefined {
  const kind = COLUMN_KINDS[element]
  if (kind === 'time' || kind === 'count') {
    if (!Number.isSafeInteger(cell)) return `expected an integer within +-(2^53-1), got ${showValue(cell)}`
    return kind === 'count' && Number(cell) < 0 ? `expected a number of trades, got ${showValue(cell)}` : undefined
  }
  if (typeof cell !== 'string') return `expected a string, got ${showValue(cell)}`
  if (kind === 'decimal' && !DECIMAL.test(cell))
    return `expected a decimal such as "0.00100000", got ${showValue(cell)}`
  return undefined
}

function badWindow(window: WindowRef, what: string, data: ErrorData = {}, cause?: unknown): KlinesError {
  return new KlinesError('bad_window', `${windowName(window)}: ${what}`, { data: { kind: 'shape', ...data }, cause })
}

/** `2024-01-31T12:00:00.000Z`; the number itself for a time that has no date. */
function formatInstant(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
