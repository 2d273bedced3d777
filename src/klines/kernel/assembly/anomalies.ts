import { isLessThan } from './decimals'
import { CANDLE_BYTES, CLOSE_TIME, COUNT, DECIMAL_BYTES, DECIMALS, OPEN_TIME } from './layout'

/**
 * Writes to `to` the rows of candles that may have an anomaly, and returns how many: the first one, and any that does not open
 * `step` ms after the one before, is off the grid counted from `anchor`, does not close on time, or has impossible values.
 */
export function findAnomalies(from: usize, rows: u32, step: f64, anchor: f64, to: usize): u32 {
  let anomalies: u32 = 0
  let nextTime = NaN
  for (let row: u32 = 0; row < rows; row++) {
    const openTime = load<f64>(from + OPEN_TIME)
    const follows = openTime === nextTime
    nextTime = openTime + step
    const isRegular =
      follows &&
      load<f64>(from + CLOSE_TIME) === nextTime - 1 &&
      isOrdered(from + DECIMALS) &&
      (load<f64>(from + COUNT) !== 0 || isIdle(from + DECIMALS)) &&
      <i64>(openTime - anchor) % <i64>step === 0
    if (!isRegular) {
      store<u32>(to, row)
      to += 4
      anomalies++
    }
    from += CANDLE_BYTES
  }
  return anomalies
}

/**
 * Writes to `to` the stretches of candles without a trade that follow each other, as their first row and their number, and returns
 * how many stretches there are.
 */
export function findRunsWithoutTrades(from: usize, rows: u32, to: usize): u32 {
  let runs: u32 = 0
  let nextTime = NaN
  for (let row: u32 = 0; row < rows; row++) {
    if (load<f64>(from + COUNT) !== 0) nextTime = NaN
    else {
      if (load<f64>(from + OPEN_TIME) === nextTime) store<u32>(to - 4, load<u32>(to - 4) + 1)
      else {
        store<u32>(to, row)
        store<u32>(to + 4, 1)
        to += 8
        runs++
      }
      nextTime = load<f64>(from + CLOSE_TIME) + 1
    }
    from += CANDLE_BYTES
  }
  return runs
}

/** Whether low <= open, close <= high, and taker volumes are not above the whole volumes. */
function isOrdered(decimals: usize): bool {
  const open = decimals
  const high = open + DECIMAL_BYTES
  const low = high + DECIMAL_BYTES
  const close = low + DECIMAL_BYTES
  const volume = close + DECIMAL_BYTES
  if (isLessThan(open, low) || isLessThan(close, low) || isLessThan(high, open) || isLessThan(high, close)) return false
  // The order is volume, quote volume, taker volume, taker quote volume.
  return (
    !isLessThan(volume, volume + 2 * DECIMAL_BYTES) && !isLessThan(volume + DECIMAL_BYTES, volume + 3 * DECIMAL_BYTES)
  )
}

/** Whether values that are in order are those of a candle without a trade: the highest price is the lowest one, and no volume. */
function isIdle(decimals: usize): bool {
  const high = decimals + DECIMAL_BYTES
  const low = high + DECIMAL_BYTES
  const volume = low + 2 * DECIMAL_BYTES
  // The volumes of takers are at most the others.
  return !isLessThan(low, high) && isZero(volume) && isZero(volume + DECIMAL_BYTES)
}

function isZero(decimal: usize): bool {
  return (load<u64>(decimal) | load<u64>(decimal + 8)) === 0
}
