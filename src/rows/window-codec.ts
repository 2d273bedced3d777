import { COLUMN_KINDS, COLUMNS, type KlineRow, ROW_LENGTH } from '../candles/columns.js'
import { type ErrorData, KlinesError } from '../candles/errors.js'
import { DAY_MS, type Interval, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import { decodeUtf8 } from '../candles/json.js'
import { type WindowRef, windowName } from '../candles/series.js'
import { quoteText } from '../candles/text.js'
import { type WindowSpan, windowSpan } from '../candles/windows.js'
import { CandleGrid } from './candle-grid.js'
import { KlineBatch, PLAIN_CELL } from './kline-batch.js'
import { parseTargetInterval } from './target-interval.js'
import { NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './wasm/assembly/layout.js'
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
  return new KlineBatch(series, { bytes, offsets: offsets.slice(), numbers: numbers.slice() }, plain)
}

/**
 * The rows of a window file without a copy: they lie in the memory of `kernel` if `bytes` are in the wire form, and are
 * valid until the kernel reads another window. `bytes` should lie there too.
 */
export function decodeInPlace(bytes: Uint8Array, window: WindowRef, kernel: Kernel, anchor?: number): KlineBatch {
  const rules = new RowRules(window, anchor)
  const { grid, span } = rules
  const hasStep = grid?.step !== undefined
  const index = kernel.index(bytes, span, hasStep ? grid : undefined)
  // The series alone: a batch does not say which window its rows are from.
  const series = { symbol: window.symbol, interval: window.interval }
  if (index && (hasStep || hasValidTimes(index, rules))) return new KlineBatch(series, index, true, kernel)
  return toBatch(series, checkRows(parseJson(bytes, window), window, new RowRules(window, anchor)))
}

/** Checks what the kernel cannot check without a step. */
function hasValidTimes({ numbers }: IndexedRows, rules: RowRules): boolean {
  let row = 0
  while (row < numbers.length && !rules.findTimeFault(numbers[row], numbers[row + 1])) row += NUMBERS_PER_ROW
  return row >= numbers.length
}

/** What is wrong with a row. */
interface RowFault {
  readonly element?: number
  readonly what: string
}

/** Which times rows may have: open times in the span of their window, on the grid, and close times of their candles. */
class RowRules {
  readonly span: WindowSpan
  private readonly interval: Interval
  /** Undefined for 3d while no candle is known: the first row at midnight sets it, and the others open all three days. */
  grid: CandleGrid | undefined

  constructor(
    private readonly window: WindowRef,
    anchor: number | undefined,
  ) {
    this.span = windowSpan(window)
    this.interval = window.interval
    if (this.interval !== '3d') this.setGrid()
    else if (anchor !== undefined && anchor % DAY_MS === 0) this.setGrid(anchor)
  }

  /** The fault of a row's open or close time, ms UTC; undefined for a valid row. */
  findTimeFault(openTime: number, closeTime: number): RowFault | undefined {
    if (openTime % DAY_MS === 0 && this.grid === undefined) this.setGrid(openTime)
    if (this.grid?.offset(openTime) !== 0 && !mayBeOffGrid(openTime)) {
      return { element: 0, what: `${formatInstant(openTime)} is not on the grid of its series, ${this.describeGrid()}` }
    }
    if (closeTime < openTime) {
      return { element: 6, what: `${formatInstant(closeTime)} is before the open time, ${formatInstant(openTime)}` }
    }
    const lastTime = nextOpenTime(this.interval, openTime) - 1
    if (closeTime <= lastTime) return undefined
    return {
      element: 6,
      what: `${formatInstant(closeTime)} is after the end of the candle, ${formatInstant(lastTime)}`,
    }
  }

  private setGrid(anchor?: number): void {
    this.grid = new CandleGrid({ ...parseTargetInterval(this.interval), anchor }, this.window.symbol)
  }

  private describeGrid(): string {
    const { interval, grid } = this
    if (interval === '1w') return 'whose candles open on Mondays'
    if (interval === '1M') return 'whose candles open on the first of a month'
    if (interval !== '3d') return `whose candles open every ${interval} from midnight on`
    return grid === undefined
      ? 'whose candles open at midnight'
      : `whose candles open every three days, one of them on ${formatInstant(grid.anchor).slice(0, 10)}`
  }
}

const encoder = new TextEncoder()
/** Characters of -9007199254740991. */
const LONGEST_NUMBER = 17

/** Rows as a batch with a new buffer. */
function toBatch(series: KlineBatch['series'], rows: readonly KlineRow[]): KlineBatch {
  const cells = rows.flat()
  // A character takes three bytes at the most.
  const room = cells.reduce<number>(
    (sum, cell) => sum + (typeof cell === 'string' ? 3 * cell.length : LONGEST_NUMBER),
    0,
  )
  const text = new Uint8Array(room)
  const offsets = new Uint32Array(rows.length * OFFSETS_PER_ROW)
  // Adding 0 turns -0, which JSON allows, into 0.
  const numbers = Float64Array.from(rows.flatMap(row => [row[0] + 0, row[6] + 0, row[8] + 0]))
  let end = 0
  for (const [index, cell] of cells.entries()) {
    offsets[2 * index] = end
    end += encoder.encodeInto(String(cell === 0 ? 0 : cell), text.subarray(end)).written
    offsets[2 * index + 1] = end
  }
  const isPlain = rows.every(row => PLAIN_CELL.test(row[11]))
  return new KlineBatch(series, { bytes: text.slice(0, end), offsets, numbers }, isPlain)
}

/** Parses `bytes` as JSON in UTF-8, with or without a byte order mark. Bad sequences are refused, not replaced. */
function parseJson(bytes: Uint8Array, window: WindowRef): unknown {
  let text: string
  try {
    text = decodeUtf8(bytes)
  } catch (cause) {
    throw badWindow(window, 'the body is not UTF-8 text', { kind: 'not_json' }, cause)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    const page = /^\s*<(!doctype|html|\?xml)/i.test(text)
    const what = page ? 'the body is a web page, not JSON' : `the body is not JSON (it starts with ${show(text)})`
    throw badWindow(window, text === '' ? 'the body is empty' : what, { kind: 'not_json' }, cause)
  }
}

/** The only place that describes what is wrong with a window: every rule, row by row. */
function checkRows(value: unknown, window: WindowRef, rules: RowRules): KlineRow[] {
  if (!Array.isArray(value)) throw badWindow(window, `expected an array of rows, got ${show(value)}`)
  let previous = Number.NEGATIVE_INFINITY
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
  if (!Array.isArray(row)) return { what: `expected an array, got ${show(row)}` }
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
  const what = `${formatInstant(openTime)} does not come after the row before, ${formatInstant(previous)}`
  return { element: 0, what }
}

/** A decimal cell: digits, and optionally a point and more digits. */
const DECIMAL = /^\d+(\.\d+)?$/

function findCellFault(cell: unknown, element: number): string | undefined {
  const kind = COLUMN_KINDS[element]
  if (kind === 'time' || kind === 'count') {
    if (!Number.isSafeInteger(cell)) return `expected an integer within +-(2^53-1), got ${show(cell)}`
    return kind === 'count' && Number(cell) < 0 ? `expected a number of trades, got ${show(cell)}` : undefined
  }
  if (typeof cell !== 'string') return `expected a string, got ${show(cell)}`
  if (kind === 'decimal' && !DECIMAL.test(cell)) return `expected a decimal such as "0.00100000", got ${show(cell)}`
  return undefined
}

function badWindow(window: WindowRef, what: string, data: ErrorData['bad_window'] = {}, cause?: unknown): KlinesError {
  return new KlinesError('bad_window', `${windowName(window)}: ${what}`, { data: { kind: 'shape', ...data }, cause })
}

/** How much of a value an error shows. */
const SHOWN_CHARACTERS = 40

/** A value for a message: its JSON, shortened and with control characters escaped. Nested values are only named. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? quoteText(value.slice(0, SHOWN_CHARACTERS + 1)) : String(value)
  return text.length > SHOWN_CHARACTERS + 2 ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
}

/** `2024-01-31T12:00:00.000Z`; the number itself for a time that has no date. */
function formatInstant(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
