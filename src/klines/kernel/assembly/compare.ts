import { addCandle, beginCandle } from './candles'
import { CANDLE_BYTES, CLOSE_TIME, COMPARED, COUNT, DECIMALS, IGNORE, NO_ROW, OPEN_TIME } from './layout'

/**
 * Groups `rows` candles at `from`, which ascend by open time, into candles of `step` ms counted from `anchor` (ms UTC). Writes the
 * groups to `to` and returns how many there are; there are no empty groups.
 */
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

/**
 * Compares candles at `actual` with those at `expected`, both ascending by open time, and marks the actual ones as compared.
 * Returns the number of open times. Writes to `to` how many candles differ, and from `to` + 8 their rows in pairs (expected,
 * actual), NO_ROW for a missing candle.
 */
export function compareCandles(expected: usize, expectedRows: u32, actual: usize, actualRows: u32, to: usize): u32 {
  const expectedEnd = expected + expectedRows * CANDLE_BYTES
  const actualEnd = actual + actualRows * CANDLE_BYTES
  let expectedRow: u32 = 0
  let actualRow: u32 = 0
  let times: u32 = 0
  let pair = to
  for (; expected < expectedEnd || actual < actualEnd; times++) {
    const expectedTime = expected < expectedEnd ? load<f64>(expected + OPEN_TIME) : Infinity
    const actualTime = actual < actualEnd ? load<f64>(actual + OPEN_TIME) : Infinity
    const isExpected = expectedTime <= actualTime
    const isActual = actualTime <= expectedTime
    if (isActual) store<u32>(actual + COMPARED, 1)
    if (!isExpected || !isActual || !areEqual(expected, actual)) {
      pair += 8
      store<u32>(pair, isExpected ? expectedRow : NO_ROW)
      store<u32>(pair + 4, isActual ? actualRow : NO_ROW)
    }
    if (isExpected) {
      expected += CANDLE_BYTES
      expectedRow++
    }
    if (isActual) {
      actual += CANDLE_BYTES
      actualRow++
    }
  }
  store<u32>(to, <u32>((pair - to) / 8))
  return times
}

/** The number of candles that are marked as compared. */
export function comparedCandles(from: usize, rows: u32): u32 {
  let compared: u32 = 0
  for (let row: u32 = 0; row < rows; row++) {
    compared += load<u32>(from + COMPARED)
    from += CANDLE_BYTES
  }
  return compared
}

/** Whether two candles that open at the same time are equal in all columns. */
function areEqual(a: usize, b: usize): bool {
  if (load<f64>(a + CLOSE_TIME) !== load<f64>(b + CLOSE_TIME)) return false
  if (load<f64>(a + COUNT) !== load<f64>(b + COUNT)) return false
  if (load<u32>(a + IGNORE) !== load<u32>(b + IGNORE)) return false
  for (let part = DECIMALS; part < CANDLE_BYTES; part += 8) {
    if (load<u64>(a + part) !== load<u64>(b + part)) return false
  }
  return true
}
