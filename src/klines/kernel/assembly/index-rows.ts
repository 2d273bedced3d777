import { areDigits, isDigit, numberBefore } from './digits'
import { NUMBERS_BYTES, OFFSETS_BYTES } from './layout'

const QUOTE: u32 = 0x22
const COMMA: u32 = 0x2c
const MINUS: u32 = 0x2d
const DOT: u32 = 0x2e
const ZERO: u32 = 0x30
const OPEN: u32 = 0x5b
const CLOSE: u32 = 0x5d
const UNDERSCORE: u32 = 0x5f
/** 2^53 - 1. */
const MAX_SAFE_INTEGER: u64 = 9007199254740991

/** What a row index has for a file that is not in the wire form, and a cell's end when there is none. */
const NO_ROWS: i32 = -1
const NOWHERE: usize = 0

/** Elements 0, 6 and 8 of a row are integers, the last one is text, the others decimals (service.md "Kline row"). */
const LAST: u32 = 11
function isInteger(column: u32): bool {
  return column === 0 || column === 6 || column === 8
}

/**
 * Rows of a window of `length` bytes at `bytes`, in the wire form of the service: `[[0,"1.0",...],[...]]` without white space,
 * exponents or escapes. Cells go to `offsets`, times and count to `numbers`. -1 for anything else, legal or not, and for open
 * times that do not ascend from `startTime` to before `endTime`.
 * What lies behind the window may be read, and makes no difference; somewhere there must be a zero.
 */
export function indexRows(
  bytes: usize,
  length: u32,
  startTime: f64,
  endTime: f64,
  offsets: usize,
  numbers: usize,
): i32 {
  const end = bytes + length
  if (load<u8>(bytes) !== OPEN) return NO_ROWS
  let at = bytes + 1
  if (load<u8>(at) === CLOSE) return at + 1 === end ? 0 : NO_ROWS
  let previous = startTime - 1
  let rows = 0
  let next = COMMA
  while (next === COMMA) {
    at = indexRow(bytes, at, offsets, numbers)
    if (at === NOWHERE) return NO_ROWS
    const openTime = load<f64>(numbers)
    const closeTime = load<f64>(numbers + 8)
    if (openTime <= previous || openTime >= endTime || closeTime < openTime) return NO_ROWS
    previous = openTime
    rows++
    next = load<u8>(at++)
    offsets += OFFSETS_BYTES
    numbers += NUMBERS_BYTES
  }
  return next === CLOSE && at === end ? rows : NO_ROWS
}

/** End of the row at `at`. */
function indexRow(bytes: usize, at: usize, offsets: usize, numbers: usize): usize {
  if (load<u8>(at++) !== OPEN) return NOWHERE
  for (let column: u32 = 0; column <= LAST; column++) {
    const quoted = !isInteger(column)
    if (quoted && load<u8>(at++) !== QUOTE) return NOWHERE
    store<u32>(offsets, <u32>(at - bytes))
    if (!quoted) {
      at = integerEnd(at, numbers)
      numbers += 8
    } else if (column === LAST) at = plainEnd(at)
    else at = decimalEnd(at)
    if (at === NOWHERE) return NOWHERE
    store<u32>(offsets + 4, <u32>(at - bytes))
    offsets += 8
    if (quoted && load<u8>(at++) !== QUOTE) return NOWHERE
    if (load<u8>(at++) !== (column === LAST ? CLOSE : COMMA)) return NOWHERE
  }
  return at
}

/** End of a JSON integer within +-(2^53-1) at `at`, its value at `number`; `-0` and all else is nowhere. */
function integerEnd(at: usize, number: usize): usize {
  const negative = load<u8>(at) === MINUS
  const start = at + usize(negative)
  let end = start
  let value: u64 = 0
  // A time has 13 digits: 8 of them at once.
  if (areDigits(start)) {
    end += 8
    value = numberBefore(end, 8)
  }
  for (let byte: u32 = load<u8>(end); isDigit(byte); byte = load<u8>(++end)) value = value * 10 + (byte - ZERO)
  const digits = end - start
  // 16 digits are far from 2^64: the sum never went over.
  if (digits === 0 || digits > 16 || value > MAX_SAFE_INTEGER) return NOWHERE
  if (load<u8>(start) === ZERO && (digits > 1 || negative)) return NOWHERE
  store<f64>(number, negative ? -(<f64>value) : <f64>value)
  return end
}

/** End of `\d+(\.\d+)?` at `at`. */
function decimalEnd(at: usize): usize {
  const whole = at
  while (isDigit(load<u8>(at))) at++
  if (at === whole) return NOWHERE
  if (load<u8>(at) !== DOT) return at
  const fraction = ++at
  // The service writes 8 decimals.
  if (areDigits(at)) at += 8
  while (isDigit(load<u8>(at))) at++
  return at === fraction ? NOWHERE : at
}

/** End of a run of `[A-Za-z0-9._-]` at `at`, which any format takes as it is; it may be empty. */
function plainEnd(at: usize): usize {
  while (isPlain(load<u8>(at))) at++
  return at
}

function isPlain(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < 26 || byte === DOT || byte === MINUS || byte === UNDERSCORE
}
