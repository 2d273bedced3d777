import { numberBefore } from './digits'
import {
  CANDLE_BYTES,
  CLOSE_TIME,
  COMPARED,
  COUNT,
  DECIMAL_BYTES,
  DECIMALS,
  DIGITS,
  IGNORE,
  NUMBERS_BYTES,
  OFFSETS_BYTES,
  OPEN_TIME,
  ROWS,
  TRADED,
  UNNAMED,
} from './layout'

const DOT: u32 = 0x2e
const ZERO: u32 = 0x30
/** Digits after the point that decimals are scaled by, and one unit before it. */
const SCALE: u32 = 8
const UNIT: u64 = 100000000
/** Values before the point are below this: room for 10^11 of them in a sum of 128 bits. */
const MAX_WHOLE: u64 = 1000000000000000
/** Decimals of a candle. */
const PLACES: u32 = 8

/**
 * Reads `rows` rows of an index into candles at `to`. Gives how many of them have a text other than `0` at their end (they are
 * marked UNNAMED), or -1 - row for the first one with a decimal of more than 15 digits before the point or 8 after it.
 */
export function readCandles(bytes: usize, offsets: usize, numbers: usize, rows: u32, to: usize): i32 {
  let unnamed = 0
  for (let row: u32 = 0; row < rows; row++) {
    const count = load<f64>(numbers + 16)
    store<f64>(to + OPEN_TIME, load<f64>(numbers))
    store<f64>(to + CLOSE_TIME, load<f64>(numbers + 8))
    store<f64>(to + COUNT, count)
    store<u32>(to + ROWS, 1)
    store<u32>(to + TRADED, u32(count > 0))
    store<u32>(to + COMPARED, 0)
    for (let place: u32 = 0; place < PLACES; place++) {
      const cell = offsets + 8 * columnOf(place)
      const start = bytes + load<u32>(cell)
      const end = bytes + load<u32>(cell + 4)
      if (!readDecimal(start, end, to + DECIMALS + place * DECIMAL_BYTES, to + DIGITS + place)) return -1 - row
    }
    const text = load<u32>(offsets + 88)
    const isZero = load<u32>(offsets + 92) - text === 1 && load<u8>(bytes + text) === ZERO
    store<u32>(to + IGNORE, isZero ? 0 : UNNAMED)
    if (!isZero) unnamed++
    offsets += OFFSETS_BYTES
    numbers += NUMBERS_BYTES
    to += CANDLE_BYTES
  }
  return unnamed
}

/** The column of a decimal: open, high, low, close, volume, then quote volume (7) and the two of the takers (9, 10). */
function columnOf(place: u32): u32 {
  if (place < 5) return place + 1
  return place === 5 ? 7 : place + 3
}

/** Puts the decimal from `start` to `end` at `to`, and its digits after the point at `digits`; false when it is too long. */
export function readDecimal(start: usize, end: usize, to: usize, digits: usize): bool {
  const length = <u32>(end - start)
  // As the service writes nearly all of them: up to 8 digits before the point, so that 64 bits do, and 8 after it.
  if (length > 1 + SCALE && length <= 9 + SCALE && load<u8>(end - 9) === DOT) {
    store<u64>(to, numberBefore(end - 9, length - 9) * UNIT + numberBefore(end, SCALE))
    store<u64>(to + 8, 0)
    store<u8>(digits, SCALE)
    return true
  }
  return readLong(start, end, to, digits)
}

function readLong(start: usize, end: usize, to: usize, digits: usize): bool {
  let at = start
  let whole: u64 = 0
  for (; at < end && load<u8>(at) !== DOT; at++) {
    whole = whole * 10 + (load<u8>(at) - ZERO)
    if (whole >= MAX_WHOLE) return false
  }
  at++
  let fraction: u64 = 0
  let written: u32 = 0
  for (let place: u32 = 0; place < SCALE; place++) {
    fraction *= 10
    if (at >= end) continue
    fraction += load<u8>(at++) - ZERO
    written++
  }
  // Zeros beyond say nothing.
  for (; at < end; at++) if (load<u8>(at) !== ZERO) return false
  // 64 bits by 27, half by half.
  const lower = (whole & 0xffffffff) * UNIT
  const upper = (whole >> 32) * UNIT
  const low = (upper << 32) + lower
  const sum = low + fraction
  store<u64>(to, sum)
  store<u64>(to + 8, (upper >> 32) + u64(low < lower) + u64(sum < fraction))
  store<u8>(digits, written)
  return true
}

/** Begins a candle at `to` that opens at `openTime` and is made of nothing yet. */
export function beginCandle(to: usize, openTime: f64): void {
  store<f64>(to + OPEN_TIME, openTime)
  store<f64>(to + COUNT, 0)
  store<u32>(to + ROWS, 0)
  store<u32>(to + COMPARED, 0)
  store<u32>(to + TRADED, 0)
}

/**
 * Adds `rows` candles at `from` to the one at `to`, exactly as the exchange makes its own (observed.md): open of the first,
 * close and close time of the last, highest high, lowest low, sums of the rest. Candles without a trade do not count, unless
 * none has one. What is added may be a sum itself.
 */
export function addCandles(to: usize, from: usize, rows: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    addCandle(to, from)
    from += CANDLE_BYTES
  }
}

export function addCandle(to: usize, from: usize): void {
  const made = load<u32>(to + ROWS)
  const traded = load<u32>(to + TRADED)
  const trades = load<u32>(from + TRADED)
  store<u32>(to + ROWS, made + load<u32>(from + ROWS))
  if (made === 0 || trades > traded) {
    // For so few bytes memory.copy takes several times as long.
    for (let at = CLOSE_TIME; at < CANDLE_BYTES; at += 8) store<u64>(to + at, load<u64>(from + at))
    return
  }
  if (trades < traded) return
  store<f64>(to + CLOSE_TIME, load<f64>(from + CLOSE_TIME))
  store<f64>(to + COUNT, load<f64>(to + COUNT) + load<f64>(from + COUNT))
  if (isLess(to, from, 1)) copyDecimal(to, from, 1)
  if (isLess(from, to, 2)) copyDecimal(to, from, 2)
  copyDecimal(to, from, 3)
  for (let place: u32 = 4; place < PLACES; place++) addDecimal(to, from, place)
}

/** Whether a decimal of candle `one` is less than the same of candle `other`. */
function isLess(one: usize, other: usize, place: u32): bool {
  const at = DECIMALS + place * DECIMAL_BYTES
  return isLessThan(one + at, other + at)
}

/** The same for two decimals. */
export function isLessThan(one: usize, other: usize): bool {
  const upper = load<u64>(one + 8)
  const otherUpper = load<u64>(other + 8)
  return upper === otherUpper ? load<u64>(one) < load<u64>(other) : upper < otherUpper
}

function copyDecimal(to: usize, from: usize, place: u32): void {
  const at = DECIMALS + place * DECIMAL_BYTES
  store<u64>(to + at, load<u64>(from + at))
  store<u64>(to + at + 8, load<u64>(from + at + 8))
  store<u8>(to + DIGITS + place, load<u8>(from + DIGITS + place))
}

function addDecimal(to: usize, from: usize, place: u32): void {
  const at = DECIMALS + place * DECIMAL_BYTES
  const low = load<u64>(from + at)
  const sum = load<u64>(to + at) + low
  store<u64>(to + at, sum)
  store<u64>(to + at + 8, load<u64>(to + at + 8) + load<u64>(from + at + 8) + u64(sum < low))
  const digits = load<u8>(from + DIGITS + place)
  if (digits > load<u8>(to + DIGITS + place)) store<u8>(to + DIGITS + place, digits)
}
