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
  NOT_INTERNED,
  NUMBERS_BYTES,
  OFFSETS_BYTES,
  OPEN_TIME,
  ROWS,
  TRADED,
} from './layout'

const DOT: u32 = 0x2e
const ZERO: u32 = 0x30
/** Decimals are integers in units of 10^-SCALE; UNIT is 1. */
const SCALE: u32 = 8
const UNIT: u64 = 100000000
/** The integer part must be below this, so that 128 bits hold sums of at least 10^11 values. */
const MAX_WHOLE: u64 = 1000000000000000
/** Number of decimals in a candle. */
const PLACES: u32 = 8

/**
 * Reads `rows` rows of an index into candles at `to`. Returns how many of them end in a text other than `0` (they are marked
 * NOT_INTERNED), or -1 - row for the first row with a decimal of more than 15 digits before the point or 8 after it.
 */
export function readCandles(bytes: usize, offsets: usize, numbers: usize, rows: u32, to: usize): i32 {
  let notInterned = 0
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
    store<u32>(to + IGNORE, isZero ? 0 : NOT_INTERNED)
    if (!isZero) notInterned++
    offsets += OFFSETS_BYTES
    numbers += NUMBERS_BYTES
    to += CANDLE_BYTES
  }
  return notInterned
}

/** The column of a decimal: open, high, low, close, volume (1 to 5), quote volume (7), taker volumes (9, 10). */
function columnOf(place: u32): u32 {
  if (place < 5) return place + 1
  return place === 5 ? 7 : place + 3
}

/** Reads the decimal from `start` to `end` into `to`, and its number of decimal places into `digits`; false if too long. */
export function readDecimal(start: usize, end: usize, to: usize, digits: usize): bool {
  const length = <u32>(end - start)
  // The service writes nearly all decimals with up to 8 digits before the point and 8 after it: 64 bits are enough.
  if (length > 1 + SCALE && length <= 9 + SCALE && load<u8>(end - 9) === DOT) {
    store<u64>(to, numberBefore(end - 9, length - 9) * UNIT + numberBefore(end, SCALE))
    store<u64>(to + 8, 0)
    store<u8>(digits, SCALE)
    return true
  }
  return readLong(start, end, to, digits)
}

function readLong(start: usize, end: usize, to: usize, digits: usize): bool {
  let next = start
  let whole: u64 = 0
  for (; next < end && load<u8>(next) !== DOT; next++) {
    whole = whole * 10 + (load<u8>(next) - ZERO)
    if (whole >= MAX_WHOLE) return false
  }
  next++
  let fraction: u64 = 0
  let written: u32 = 0
  for (let place: u32 = 0; place < SCALE; place++) {
    fraction *= 10
    if (next >= end) continue
    fraction += load<u8>(next++) - ZERO
    written++
  }
  // Further zeros do not change the value.
  for (; next < end; next++) if (load<u8>(next) !== ZERO) return false
  // Multiplies 64 bits by 27 bits, half by half.
  const lower = (whole & 0xffffffff) * UNIT
  const upper = (whole >> 32) * UNIT
  const low = (upper << 32) + lower
  const sum = low + fraction
  store<u64>(to, sum)
  store<u64>(to + 8, (upper >> 32) + u64(low < lower) + u64(sum < fraction))
  store<u8>(digits, written)
  return true
}

/** Writes a candle to `to` that opens at `openTime` and has no rows yet. */
export function beginCandle(to: usize, openTime: f64): void {
  store<f64>(to + OPEN_TIME, openTime)
  store<f64>(to + COUNT, 0)
  store<u32>(to + ROWS, 0)
  store<u32>(to + COMPARED, 0)
  store<u32>(to + TRADED, 0)
}

/**
 * Adds `rows` candles at `from` to the candle at `to` by the rule of the exchange: open of the first, close and close time of the
 * last, highest high, lowest low, sums of the rest. Candles without trades are ignored, unless all have none. The candles may be
 * aggregates themselves.
 */
export function addCandles(to: usize, from: usize, rows: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    addCandle(to, from)
    from += CANDLE_BYTES
  }
}

export function addCandle(to: usize, from: usize): void {
  const count = load<u32>(to + ROWS)
  const traded = load<u32>(to + TRADED)
  const trades = load<u32>(from + TRADED)
  store<u32>(to + ROWS, count + load<u32>(from + ROWS))
  if (count === 0 || trades > traded) {
    // memory.copy takes several times as long for so few bytes.
    for (let part = CLOSE_TIME; part < CANDLE_BYTES; part += 8) store<u64>(to + part, load<u64>(from + part))
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

/** Whether a decimal of candle `a` is less than the same decimal of candle `b`. */
function isLess(a: usize, b: usize, place: u32): bool {
  const part = DECIMALS + place * DECIMAL_BYTES
  return isLessThan(a + part, b + part)
}

/** Whether the decimal at `a` is less than the one at `b`. */
export function isLessThan(a: usize, b: usize): bool {
  const upperA = load<u64>(a + 8)
  const upperB = load<u64>(b + 8)
  return upperA === upperB ? load<u64>(a) < load<u64>(b) : upperA < upperB
}

function copyDecimal(to: usize, from: usize, place: u32): void {
  const part = DECIMALS + place * DECIMAL_BYTES
  store<u64>(to + part, load<u64>(from + part))
  store<u64>(to + part + 8, load<u64>(from + part + 8))
  store<u8>(to + DIGITS + place, load<u8>(from + DIGITS + place))
}

function addDecimal(to: usize, from: usize, place: u32): void {
  const part = DECIMALS + place * DECIMAL_BYTES
  const low = load<u64>(from + part)
  const sum = load<u64>(to + part) + low
  store<u64>(to + part, sum)
  store<u64>(to + part + 8, load<u64>(to + part + 8) + load<u64>(from + part + 8) + u64(sum < low))
  const digits = load<u8>(from + DIGITS + place)
  if (digits > load<u8>(to + DIGITS + place)) store<u8>(to + DIGITS + place, digits)
}
