import { type CandleTimes, formatInstant } from '../candles/candle-times.js'
import { COLUMN_KINDS, COLUMNS, type KlineRow, ROW_LENGTH } from '../candles/columns.js'
import { type ErrorData, KlinesError } from '../candles/errors.js'
import { decodeUtf8 } from '../candles/json.js'
import { type WindowRef, windowName } from '../candles/series.js'
import { quoteText } from '../candles/text.js'
import type { WindowSpan } from '../candles/windows.js'
import { KlineBatch, PLAIN_CELL } from './kline-batch.js'
import { NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './wasm/assembly/layout.js'
import { SHORTEST_ROW } from './wasm/kernel.js'

/** A decimal cell: digits, and optionally a point and more digits. */
const DECIMAL = /^\d+(\.\d+)?$/

/** How much of a value an error shows. */
const SHOWN_CHARACTERS = 40

/** Larger bodies are checked before they are parsed; the largest window of the service has 139,569 bytes. */
const LARGE_BYTES = 1024 * 1024
/** Characters of -9007199254740991. */
const LONGEST_NUMBER = 17

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACE = 0x7b

const encoder = new TextEncoder()

/** Which times the rows of a window may have: open times in its span, on the grid of its series, and close times of its candles. */
export interface RowRules {
  readonly span: WindowSpan
  readonly times: CandleTimes
}

/**
 * The slow path of the codec, and the only place that describes what is wrong with a window: `JSON.parse`, then every rule
 * row by row. The batch has a new buffer with the decoded cells. Throws `bad_window`.
 */
export function parseJsonWindow(bytes: Uint8Array, window: WindowRef, rules: RowRules): KlineBatch {
  const rows = checkRows(parseJson(bytes, window), window, rules)
  // A number may become longer than in the source (1e15); a text never does.
  const text = new Uint8Array(bytes.length + rows.length * NUMBERS_PER_ROW * LONGEST_NUMBER)
  const offsets = new Uint32Array(rows.length * OFFSETS_PER_ROW)
  const numbers = new Float64Array(rows.length * NUMBERS_PER_ROW)
  let [end, offset, number] = [0, 0, 0]
  for (const row of rows) {
    // Adding 0 turns -0, which JSON allows, into 0.
    numbers.set([row[0] + 0, row[6] + 0, row[8] + 0], number)
    number += NUMBERS_PER_ROW
    for (const cell of row) {
      offsets[offset++] = end
      end += encoder.encodeInto(String(cell === 0 ? 0 : cell), text.subarray(end)).written
      offsets[offset++] = end
    }
  }
  const plain = rows.every(row => PLAIN_CELL.test(row[11]))
  const { symbol, interval } = window
  return new KlineBatch({ symbol, interval }, { bytes: text.slice(0, end), offsets, numbers }, plain)
}

/** Parses `bytes` as JSON in UTF-8, with or without a byte order mark. Bad sequences are refused, not replaced. */
function parseJson(bytes: Uint8Array, window: WindowRef): unknown {
  if (bytes.length > LARGE_BYTES && isCrowded(bytes))
    throw badWindow(window, `the body is no list of rows: its ${bytes.length} bytes hold more elements than rows can`)
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

/**
 * Whether a body has more arrays, objects or elements than rows of that length can have. `JSON.parse` would need hundreds of
 * megabytes and most of a minute for 16 MB of `[],`.
 */
function isCrowded(bytes: Uint8Array): boolean {
  const maxRows = bytes.length / SHORTEST_ROW
  let [arrays, commas, inText] = [0, 0, false]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inText) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === OPEN) arrays++
    else if (byte === COMMA) commas++
    else if (byte === BRACE) return true
  }
  return arrays > maxRows + 1 || commas > ROW_LENGTH * maxRows
}

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

/** Describes what is wrong with a row; undefined for a valid one. */
function findRowFault(
  row: unknown,
  previous: number,
  { span, times }: RowRules,
): { element?: number; what: string } | undefined {
  if (!Array.isArray(row)) return { what: `expected an array, got ${show(row)}` }
  if (row.length !== ROW_LENGTH) return { what: `expected ${ROW_LENGTH} elements, got ${row.length}` }
  for (const [element, cell] of row.entries()) {
    const what = findCellFault(cell, element)
    if (what) return { element, what }
  }
  const [openTime, closeTime] = [row[0], row[6]]
  if (openTime < span.startTime || openTime >= span.endTime) {
    return {
      element: 0,
      what: `${formatInstant(openTime)} is outside the window, ${formatInstant(span.startTime)} to ${formatInstant(span.endTime)}`,
    }
  }
  if (openTime <= previous) {
    return {
      element: 0,
      what: `${formatInstant(openTime)} does not come after the row before, ${formatInstant(previous)}`,
    }
  }
  return times.findFault(openTime, closeTime)
}

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

/** A value for a message: its JSON, shortened and with control characters escaped. Nested values are only named. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? quoteText(value.slice(0, SHOWN_CHARACTERS + 1)) : String(value)
  return text.length > SHOWN_CHARACTERS + 2 ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
}
