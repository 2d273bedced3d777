import { isLessThan, places, readDecimal, ZERO } from './decimals'
import {
  CANDLE_BYTES,
  CLOSE_TIME,
  COMPARED,
  COUNT,
  DECIMAL_BYTES,
  DECIMALS,
  DIGITS,
  IGNORE,
  LONG,
  NUMBERS_BYTES,
  OFFSETS_BYTES,
  OPEN_TIME,
  ROWS,
} from './layout'

// Long decimals are read, compared and added up by the caller.
declare function longToNumber(candle: usize, place: u32): f64
declare function isLessLong(a: usize, place: u32, b: usize, other: u32): bool
declare function addLong(to: usize, from: usize, place: u32): void

const PLACES: u32 = 8

/**
 * Reads `rows` rows of an index into candles at `to`. Returns how many texts the caller still has to intern: of decimals that are
 * marked LONG, and of last columns other than `0`.
 */
export function readCandles(bytes: usize, offsets: usize, numbers: usize, rows: u32, to: usize): i32 {
  let notInterned = 0
  for (let row: u32 = 0; row < rows; row++) {
    store<f64>(to + OPEN_TIME, load<f64>(numbers))
    store<f64>(to + CLOSE_TIME, load<f64>(numbers + 8))
    store<f64>(to + COUNT, load<f64>(numbers + 16))
    store<u32>(to + ROWS, 1)
    store<u32>(to + COMPARED, 0)
    for (let place: u32 = 0; place < PLACES; place++) {
      const cell = offsets + 8 * columnOf(place)
      const start = bytes + load<u32>(cell)
      const end = bytes + load<u32>(cell + 4)
      const isShort = readDecimal(start, end, to + DECIMALS + place * DECIMAL_BYTES)
      store<u8>(to + DIGITS + place, isShort ? places : LONG)
      if (!isShort) notInterned++
    }
    const text = load<u32>(offsets + 88)
    const isZero = load<u32>(offsets + 92) - text === 1 && load<u8>(bytes + text) === ZERO
    store<u64>(to + IGNORE, 0)
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

/** Writes a candle to `to` that opens at `openTime` and has no rows yet. */
export function beginCandle(to: usize, openTime: f64): void {
  store<f64>(to + OPEN_TIME, openTime)
  store<f64>(to + COUNT, 0)
  store<u32>(to + ROWS, 0)
  store<u32>(to + COMPARED, 0)
}

/**
 * Adds `rows` candles at `from` to the candle at `to` by the rule of the exchange: open of the first, close and close time of the
 * last, highest high, lowest low, sums of the rest. Of candles without trades only the close time counts, unless all have none. One
 * that closes when it opens, in an outage, does not count. The candles may be aggregates themselves.
 */
export function addCandles(to: usize, from: usize, rows: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    addCandle(to, from)
    from += CANDLE_BYTES
  }
}

function addCandle(to: usize, from: usize): void {
  const rows = load<u32>(to + ROWS)
  const traded = load<f64>(to + COUNT) > 0
  const trades = load<f64>(from + COUNT) > 0
  store<u32>(to + ROWS, rows + load<u32>(from + ROWS))
  if (rows === 0 || (trades && !traded)) {
    // memory.copy takes several times as long for so few bytes.
    for (let part = DIGITS; part < CANDLE_BYTES; part += 8) store<u64>(to + part, load<u64>(from + part))
    return
  }
  const closeTime = load<f64>(from + CLOSE_TIME)
  if (trades === traded || closeTime > load<f64>(from + OPEN_TIME)) store<f64>(to + CLOSE_TIME, closeTime)
  if (traded && !trades) return
  store<f64>(to + COUNT, load<f64>(to + COUNT) + load<f64>(from + COUNT))
  if (isLess(to, 1, from, 1)) copyDecimal(to, from, 1)
  if (isLess(from, 2, to, 2)) copyDecimal(to, from, 2)
  copyDecimal(to, from, 3)
  for (let place: u32 = 4; place < PLACES; place++) addDecimal(to, from, place)
}

/** Adds up `rows` candles at `from` to candles of `step` ms, counted from `anchor`, at `to`. Returns how many these are. */
export function groupCandles(from: usize, rows: u32, step: f64, anchor: f64, to: usize): u32 {
  let groups: u32 = 0
  let endTime = -Infinity
  let group = to - CANDLE_BYTES
  for (let row: u32 = 0; row < rows; row++) {
    const openTime = load<f64>(from + OPEN_TIME)
    if (openTime >= endTime) {
      const startTime = anchor + Math.floor((openTime - anchor) / step) * step
      endTime = startTime + step
      group += CANDLE_BYTES
      groups++
      beginCandle(group, startTime)
    }
    addCandle(group, from)
    from += CANDLE_BYTES
  }
  return groups
}

export function isLong(candle: usize, place: u32): bool {
  return (load<u8>(candle + DIGITS + place) & LONG) !== 0
}

export function isLess(a: usize, place: u32, b: usize, other: u32): bool {
  if (isLong(a, place) || isLong(b, other)) return isLessLong(a, place, b, other)
  return isLessThan(a + DECIMALS + place * DECIMAL_BYTES, b + DECIMALS + other * DECIMAL_BYTES)
}

/** The double that is nearest to a decimal, but for the rounding of its unit. */
export function toNumber(candle: usize, place: u32): f64 {
  if (isLong(candle, place)) return longToNumber(candle, place)
  const decimal = candle + DECIMALS + place * DECIMAL_BYTES
  // The upper part is exact: a decimal that is not long has 77 bits at most.
  const upper = (load<u64>(decimal + 8) << 32) | load<u32>(decimal + 4)
  return (<f64>upper * 4294967296 + <f64>load<u32>(decimal)) * 1e-8
}

function copyDecimal(to: usize, from: usize, place: u32): void {
  const part = DECIMALS + place * DECIMAL_BYTES
  store<u64>(to + part, load<u64>(from + part))
  store<u64>(to + part + 8, load<u64>(from + part + 8))
  store<u8>(to + DIGITS + place, load<u8>(from + DIGITS + place))
}

function addDecimal(to: usize, from: usize, place: u32): void {
  if (isLong(to, place) || isLong(from, place)) {
    addLong(to, from, place)
    return
  }
  const part = DECIMALS + place * DECIMAL_BYTES
  const low = load<u64>(from + part)
  const sum = load<u64>(to + part) + low
  store<u64>(to + part, sum)
  store<u64>(to + part + 8, load<u64>(to + part + 8) + load<u64>(from + part + 8) + u64(sum < low))
  const digits = load<u8>(from + DIGITS + place)
  if (digits > load<u8>(to + DIGITS + place)) store<u8>(to + DIGITS + place, digits)
}
