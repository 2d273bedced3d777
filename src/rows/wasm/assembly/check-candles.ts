import { isLess, isLong, toNumber } from './candles'
import { CANDLE_BYTES, CLOSE_TIME, COMPARED, COUNT, DECIMAL_BYTES, DECIMALS, DIGITS, OPEN_TIME } from './layout'

/** The decimals of a candle. */
const OPEN: u32 = 0
const HIGH: u32 = 1
const LOW: u32 = 2
const CLOSE: u32 = 3
const VOLUME: u32 = 4
const QUOTE_VOLUME: u32 = 5
const TAKER_VOLUME: u32 = 6
const TAKER_QUOTE_VOLUME: u32 = 7

/** The unit of decimals that are not long. */
const UNIT: f64 = 1e-8
/** How far rounding may take a volume in the quote asset out of its limits; no candle of the exchange is further out. */
const TOLERANCE: f64 = 1e-6
/** LONG for each decimal. */
const LONGS: u64 = 0x8080808080808080

/**
 * The first of `rows` candles at `from` in which something is odd, or `rows`: it has a fault or no trade, closes early, is not on the
 * grid of `step` ms counted from `anchor`, or opens at another time than `openTime`, the first one, or `step` ms after the one before.
 * Without a `step`, 0, all are odd. Times are ms UTC.
 */
export function findOdd(from: usize, rows: u32, openTime: f64, step: f64, anchor: f64): u32 {
  // Those that follow one on the grid are on it. Without a step this is NaN.
  if (anchor + Math.floor((openTime - anchor) / step) * step !== openTime) return 0
  for (let row: u32 = 0; row < rows; row++) {
    if (load<f64>(from + OPEN_TIME) !== openTime) return row
    openTime += step
    if (load<f64>(from + CLOSE_TIME) !== openTime - 1 || load<f64>(from + COUNT) === 0) return row
    if (findFaults(from) !== 0) return row
    from += CANDLE_BYTES
  }
  return rows
}

/** What the values of a candle cannot be at once: a bit for each of the faults that `candle-table.ts` describes, in their order. */
export function findFaults(candle: usize): u32 {
  const faults =
    isAbove(candle, LOW, OPEN) |
    (isAbove(candle, LOW, CLOSE) << 1) |
    (isAbove(candle, OPEN, HIGH) << 2) |
    (isAbove(candle, CLOSE, HIGH) << 3) |
    (isAbove(candle, TAKER_VOLUME, VOLUME) << 4) |
    (isAbove(candle, TAKER_QUOTE_VOLUME, QUOTE_VOLUME) << 5)
  if (load<f64>(candle + COUNT) !== 0) {
    const low = toNumber(candle, LOW)
    const high = toNumber(candle, HIGH)
    const taker = findTradeFault(candle, TAKER_QUOTE_VOLUME, TAKER_VOLUME, low, high)
    return faults | (findTradeFault(candle, QUOTE_VOLUME, VOLUME, low, high) << 6) | (taker << 9)
  }
  // A candle without a trade can have no prices that differ, and no volume.
  const volumes = u32(!isZero(candle, VOLUME)) | (u32(!isZero(candle, QUOTE_VOLUME)) << 1)
  return faults | (isAbove(candle, HIGH, LOW) << 12) | (volumes << 13)
}

/** Whether a volume in the quote asset is one that no prices of the candle give: 1 above, 2 below; 4 with a price of 0. */
function findTradeFault(candle: usize, quote: u32, base: u32, low: f64, high: f64): u32 {
  const value = toNumber(candle, quote)
  const volume = toNumber(candle, base)
  if (value > high * volume * (1 + TOLERANCE) + UNIT) return 1
  if (value < low * volume * (1 - TOLERANCE) - UNIT) return 2
  return volume === 0 || low > 0 ? 0 : 4
}

function isAbove(candle: usize, place: u32, other: u32): u32 {
  return u32(isLess(candle, other, candle, place))
}

/** A long decimal is not. */
function isZero(candle: usize, place: u32): bool {
  const decimal = candle + DECIMALS + place * DECIMAL_BYTES
  return !isLong(candle, place) && (load<u64>(decimal) | load<u64>(decimal + 8)) === 0
}

/**
 * Compares `rows` candles at `from` with those at `other`, one by one, up to a pair that differs in the open time or another column.
 * Marks the others as compared, and returns how many they are. Of long decimals it sees no equality.
 */
export function countEqual(from: usize, other: usize, rows: u32): u32 {
  for (let row: u32 = 0; row < rows; row++) {
    if (!areEqual(from, other)) return row
    store<u32>(from + COMPARED, 1)
    from += CANDLE_BYTES
    other += CANDLE_BYTES
  }
  return rows
}

function areEqual(candle: usize, other: usize): bool {
  if (load<f64>(candle + OPEN_TIME) !== load<f64>(other + OPEN_TIME)) return false
  if (((load<u64>(candle + DIGITS) | load<u64>(other + DIGITS)) & LONGS) !== 0) return false
  for (let part = CLOSE_TIME; part < CANDLE_BYTES; part += 8)
    if (load<u64>(candle + part) !== load<u64>(other + part)) return false
  return true
}
