import type { WindowSpan } from './calendar.js'
import { COLUMN_KINDS, ROW_LENGTH } from './columns.js'
import { KlineBatch, NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './kline-batch.js'
import type { Series } from './series.js'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const OPEN = 0x5b
const CLOSE = 0x5d

const NOT_FOUND = -1

/** Rows that fit into the scratch index at first; the fullest window of the service has 744. */
const SCRATCH_ROWS = 1024

const IS_INTEGER = COLUMN_KINDS.map(kind => kind === 'time' || kind === 'count')
const IS_DECIMAL = COLUMN_KINDS.map(kind => kind === 'decimal')
const LAST = ROW_LENGTH - 1

/** `[A-Za-z0-9._-]`, what a text cell may hold to be copied into any format as it is. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9._-]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** Room for the index of one window; it only grows. */
export class RowScratch {
  offsets = new Uint32Array(SCRATCH_ROWS * OFFSETS_PER_ROW)
  numbers = new Float64Array(SCRATCH_ROWS * NUMBERS_PER_ROW)

  /** Twice the room, with what is there. */
  grow(): void {
    const { offsets, numbers } = this
    this.offsets = new Uint32Array(2 * offsets.length)
    this.offsets.set(offsets)
    this.numbers = new Float64Array(2 * numbers.length)
    this.numbers.set(numbers)
  }
}

/** Where an index is built that is copied at its exact size before anything else can run. */
const shared = new RowScratch()

/**
 * The fast path of the codec: one pass over the wire form of the service, `[[0,"1.0",...],[...]]` without white space,
 * exponents or escapes. Undefined for everything else, legal or not: the slow path decides and names what is wrong.
 * With a scratch of one's own the batch points into it, and is good until that is used again.
 */
export function indexRows(
  bytes: Uint8Array,
  series: Series,
  span: WindowSpan,
  own?: RowScratch,
): KlineBatch | undefined {
  const scratch = own ?? shared
  const { endTime } = span
  let rows = 0
  let at = 1
  let previous = span.startTime - 1

  if (bytes[0] !== OPEN) return undefined
  if (bytes[at] === CLOSE) at++
  else {
    for (;;) {
      if (rows * NUMBERS_PER_ROW === scratch.numbers.length) scratch.grow()
      at = indexRow(bytes, at, scratch, rows)
      if (at === NOT_FOUND) return undefined
      const openTime = scratch.numbers[rows * NUMBERS_PER_ROW]
      if (openTime <= previous || openTime >= endTime) return undefined
      previous = openTime
      rows++
      const next = bytes[at++]
      if (next === CLOSE) break
      if (next !== COMMA) return undefined
    }
  }
  if (at !== bytes.length) return undefined
  const { offsets, numbers } = scratch
  const index = {
    offsets: offsets.subarray(0, rows * OFFSETS_PER_ROW),
    numbers: numbers.subarray(0, rows * NUMBERS_PER_ROW),
  }
  const { symbol, interval } = series
  if (own) return new KlineBatch({ symbol, interval }, bytes, index.offsets, index.numbers, true)
  return new KlineBatch({ symbol, interval }, bytes, index.offsets.slice(), index.numbers.slice(), true)
}

/**
 * End of the row at `at`, its cells and numbers in row `row` of the scratch. A function of its own: the loop around it would
 * be made fast for each window anew.
 */
function indexRow(bytes: Uint8Array, start: number, { offsets, numbers }: RowScratch, row: number): number {
  let at = start
  if (bytes[at++] !== OPEN) return NOT_FOUND
  let offset = row * OFFSETS_PER_ROW
  const first = row * NUMBERS_PER_ROW
  let number = first
  for (let column = 0; column < ROW_LENGTH; column++) {
    const quoted = !IS_INTEGER[column]
    if (quoted && bytes[at++] !== QUOTE) return NOT_FOUND
    offsets[offset++] = at
    at = quoted
      ? IS_DECIMAL[column]
        ? decimalEnd(bytes, at)
        : plainEnd(bytes, at)
      : integerEnd(bytes, at, numbers, number++)
    if (at === NOT_FOUND) return NOT_FOUND
    offsets[offset++] = at
    if (quoted && bytes[at++] !== QUOTE) return NOT_FOUND
    if (bytes[at++] !== (column === LAST ? CLOSE : COMMA)) return NOT_FOUND
  }
  return numbers[first + 1] < numbers[first] ? NOT_FOUND : at
}

/**
 * End of a JSON integer within +-(2^53-1) at `at`, its value in `values[index]`; `-0` and all else is left to the slow
 * path. (A value handed back through a variable would be boxed: 43 MB of garbage for 600,000 rows.)
 */
function integerEnd(bytes: Uint8Array, at: number, values: Float64Array, index: number): number {
  const negative = bytes[at] === MINUS
  const start = negative ? at + 1 : at
  let end = start
  let value = 0
  for (let byte = bytes[end]; isDigit(byte); byte = bytes[++end]) value = value * 10 + (byte - ZERO)
  const digits = end - start
  // 16 digits at the most, so the sum above is exact up to 2^53 and never rounds down to it.
  if (digits === 0 || digits > 16 || value > Number.MAX_SAFE_INTEGER) return NOT_FOUND
  if (bytes[start] === ZERO && (digits > 1 || negative)) return NOT_FOUND
  values[index] = negative ? -value : value
  return end
}

/** End of `\d+(\.\d+)?` at `at`. */
function decimalEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (isDigit(bytes[end])) end++
  if (end === at) return NOT_FOUND
  if (bytes[end] !== DOT) return end
  const fraction = ++end
  // The service writes 8 decimals: asked for at once, they take a fifth off the whole index.
  const eight =
    isDigit(bytes[end]) &&
    isDigit(bytes[end + 1]) &&
    isDigit(bytes[end + 2]) &&
    isDigit(bytes[end + 3]) &&
    isDigit(bytes[end + 4]) &&
    isDigit(bytes[end + 5]) &&
    isDigit(bytes[end + 6]) &&
    isDigit(bytes[end + 7])
  if (eight) end += 8
  while (isDigit(bytes[end])) end++
  return end === fraction ? NOT_FOUND : end
}

/** `0` to `9` are 0x30 to 0x39; beyond the end of the bytes there is none. One comparison takes less than two. */
function isDigit(byte: number): boolean {
  return (byte ^ ZERO) < 10
}

/** End of a run of plain bytes at `at`; it may be empty. */
function plainEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (IS_PLAIN[bytes[end]] === 1) end++
  return end
}
