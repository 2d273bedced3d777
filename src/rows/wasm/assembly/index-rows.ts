import { areDigits, DOT, isDigit, numberBefore, ZERO } from './decimals'
import { NUMBERS_BYTES, OFFSETS_BYTES } from './layout'

const QUOTE: u32 = 0x22
const COMMA: u32 = 0x2c
const MINUS: u32 = 0x2d
const OPEN: u32 = 0x5b
const CLOSE: u32 = 0x5d
const UNDERSCORE: u32 = 0x5f
/** 2^53 - 1. */
const MAX_SAFE_INTEGER: u64 = 9007199254740991

/** For a file that is not in the wire form, and a cell without a valid end. */
const NO_ROWS: i32 = -1
const NOWHERE: usize = 0

/** Elements 0, 6 and 8 of a row are integers, the last one is text, the others are decimals. */
const LAST: u32 = 11
function isInteger(column: u32): bool {
  return column === 0 || column === 6 || column === 8
}

/**
 * Indexes a window of `length` bytes at `bytes` in the wire form, `[[0,"1.0",...],[...]]` without white space, exponents or escapes.
 * Writes the cells to `offsets`, times and counts to `numbers`, and returns the number of rows; -1 for anything else, valid JSON or
 * not, for open times that do not ascend within `[startTime, endTime)`, close times before the open time, and negative counts. With
 * a `step` other than 0 also for close times `step` ms after the open time or later, and open times from `onGridFrom` on that are no
 * multiple of `step` after `origin`. May read on behind the window until a zero.
 */
export function indexRows(
  bytes: usize,
  length: u32,
  startTime: f64,
  endTime: f64,
  step: f64,
  origin: f64,
  onGridFrom: f64,
  offsets: usize,
  numbers: usize,
): i32 {
  const end = bytes + length
  if (load<u8>(bytes) !== OPEN) return NO_ROWS
  let position = bytes + 1
  if (load<u8>(position) === CLOSE) return position + 1 === end ? 0 : NO_ROWS
  let previous = startTime - 1
  // When the row after one on the grid opens, unless one is missing: a comparison is faster than a division.
  let nextTime = NaN
  let rows = 0
  let next = COMMA
  while (next === COMMA) {
    position = indexRow(bytes, position, offsets, numbers)
    if (position === NOWHERE) return NO_ROWS
    const openTime = load<f64>(numbers)
    const closeTime = load<f64>(numbers + 8)
    if (openTime <= previous || openTime >= endTime || closeTime < openTime) return NO_ROWS
    if (load<f64>(numbers + 16) < 0) return NO_ROWS
    if (step !== 0) {
      if (closeTime >= openTime + step) return NO_ROWS
      const isOnGrid = openTime === nextTime || <i64>(openTime - origin) % <i64>step === 0
      if (!isOnGrid && openTime >= onGridFrom) return NO_ROWS
      nextTime = isOnGrid ? openTime + step : NaN
    }
    previous = openTime
    rows++
    next = load<u8>(position++)
    offsets += OFFSETS_BYTES
    numbers += NUMBERS_BYTES
  }
  return next === CLOSE && position === end ? rows : NO_ROWS
}

function indexRow(bytes: usize, position: usize, offsets: usize, numbers: usize): usize {
  if (load<u8>(position++) !== OPEN) return NOWHERE
  for (let column: u32 = 0; column <= LAST; column++) {
    const quoted = !isInteger(column)
    if (quoted && load<u8>(position++) !== QUOTE) return NOWHERE
    store<u32>(offsets, <u32>(position - bytes))
    if (!quoted) {
      position = integerEnd(position, numbers)
      numbers += 8
    } else if (column === LAST) position = plainEnd(position)
    else position = decimalEnd(position)
    if (position === NOWHERE) return NOWHERE
    store<u32>(offsets + 4, <u32>(position - bytes))
    offsets += 8
    if (quoted && load<u8>(position++) !== QUOTE) return NOWHERE
    if (load<u8>(position++) !== (column === LAST ? CLOSE : COMMA)) return NOWHERE
  }
  return position
}

/** The end of the JSON integer within +-(2^53-1) at `first`, with its value in `number`; NOWHERE for `-0` and anything else. */
function integerEnd(first: usize, number: usize): usize {
  const negative = load<u8>(first) === MINUS
  const start = first + usize(negative)
  let end = start
  let value: u64 = 0
  // A time has 13 digits: reads 8 of them at once.
  if (areDigits(start)) {
    end += 8
    value = numberBefore(end, 8)
  }
  for (let byte: u32 = load<u8>(end); isDigit(byte); byte = load<u8>(++end)) value = value * 10 + (byte - ZERO)
  const digits = end - start
  // The value cannot have overflowed: 16 digits are far below 2^64.
  if (digits === 0 || digits > 16 || value > MAX_SAFE_INTEGER) return NOWHERE
  if (load<u8>(start) === ZERO && (digits > 1 || negative)) return NOWHERE
  store<f64>(number, negative ? -(<f64>value) : <f64>value)
  return end
}

/** The end of `\d+(\.\d+)?` at `start`. */
function decimalEnd(start: usize): usize {
  let end = start
  while (isDigit(load<u8>(end))) end++
  if (end === start) return NOWHERE
  if (load<u8>(end) !== DOT) return end
  const fraction = ++end
  // The service writes 8 digits after the point.
  if (areDigits(end)) end += 8
  while (isDigit(load<u8>(end))) end++
  return end === fraction ? NOWHERE : end
}

/** The end of a run of `[A-Za-z0-9._-]`: text that no format has to quote. */
function plainEnd(position: usize): usize {
  while (isPlain(load<u8>(position))) position++
  return position
}

function isPlain(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < 26 || byte === DOT || byte === MINUS || byte === UNDERSCORE
}
