import { addCandle, beginCandle, isLessThan } from './candles'
import { CANDLE_BYTES, CLOSE_TIME, COMPARED, COUNT, DECIMAL_BYTES, DECIMALS, IGNORE, NO_ROW, OPEN_TIME } from './layout'

/**
 * Makes candles of `step` ms, counted from `anchor` (ms UTC), of `rows` candles at `from`, which ascend by open time. Gives how
 * many there are at `to`; none where there is nothing to make one of.
 */
export function groupCandles(from: usize, rows: u32, step: f64, anchor: f64, to: usize): u32 {
  let made: u32 = 0
  let endTime = -Infinity
  let at = to - CANDLE_BYTES
  for (let row: u32 = 0; row < rows; row++) {
    const openTime = load<f64>(from + OPEN_TIME)
    if (openTime >= endTime) {
      const startTime = anchor + Math.floor((openTime - anchor) / step) * step
      endTime = startTime + step
      at += CANDLE_BYTES
      made++
      beginCandle(at, startTime)
    }
    addCandle(at, from)
    from += CANDLE_BYTES
  }
  return made
}

/**
 * Holds candles at `held` against those `made` of finer ones, both ascending by open time, and marks the held ones as compared.
 * Gives how many times were looked at. At `to`: how many differ, and from `to` + 8 their rows in pairs, NO_ROW for a candle that
 * is not there.
 */
export function compareCandles(made: usize, madeRows: u32, held: usize, heldRows: u32, to: usize): u32 {
  const madeEnd = made + madeRows * CANDLE_BYTES
  const heldEnd = held + heldRows * CANDLE_BYTES
  let madeRow: u32 = 0
  let heldRow: u32 = 0
  let times: u32 = 0
  let pair = to
  for (; made < madeEnd || held < heldEnd; times++) {
    const madeTime = made < madeEnd ? load<f64>(made + OPEN_TIME) : Infinity
    const heldTime = held < heldEnd ? load<f64>(held + OPEN_TIME) : Infinity
    const isMade = madeTime <= heldTime
    const isHeld = heldTime <= madeTime
    if (isHeld) store<u32>(held + COMPARED, 1)
    if (!isMade || !isHeld || !isSame(made, held)) {
      pair += 8
      store<u32>(pair, isMade ? madeRow : NO_ROW)
      store<u32>(pair + 4, isHeld ? heldRow : NO_ROW)
    }
    if (isMade) {
      made += CANDLE_BYTES
      madeRow++
    }
    if (isHeld) {
      held += CANDLE_BYTES
      heldRow++
    }
  }
  store<u32>(to, <u32>((pair - to) / 8))
  return times
}

/** How many of these candles are marked as compared. */
export function comparedCandles(from: usize, rows: u32): u32 {
  let found: u32 = 0
  for (let row: u32 = 0; row < rows; row++) {
    found += load<u32>(from + COMPARED)
    from += CANDLE_BYTES
  }
  return found
}

/** Whether two candles that open at the same time are the same in all columns. */
function isSame(one: usize, other: usize): bool {
  if (load<f64>(one + CLOSE_TIME) !== load<f64>(other + CLOSE_TIME)) return false
  if (load<f64>(one + COUNT) !== load<f64>(other + COUNT)) return false
  if (load<u32>(one + IGNORE) !== load<u32>(other + IGNORE)) return false
  for (let at = DECIMALS; at < CANDLE_BYTES; at += 8) {
    if (load<u64>(one + at) !== load<u64>(other + at)) return false
  }
  return true
}

/**
 * The rows at `to` of those candles that a closer look is due at, and how many: the first one, one that does not follow the one
 * before after `step` ms, is off the grid counted from `anchor`, does not close as it should, has no trade, or values that
 * cannot be.
 */
export function oddCandles(from: usize, rows: u32, step: f64, anchor: f64, to: usize): u32 {
  let found: u32 = 0
  let due = NaN
  for (let row: u32 = 0; row < rows; row++) {
    const openTime = load<f64>(from + OPEN_TIME)
    const follows = openTime === due
    due = openTime + step
    const isEven =
      follows &&
      load<f64>(from + CLOSE_TIME) === due - 1 &&
      load<f64>(from + COUNT) !== 0 &&
      isOrdered(from + DECIMALS) &&
      <i64>(openTime - anchor) % <i64>step === 0
    if (!isEven) {
      store<u32>(to, row)
      to += 4
      found++
    }
    from += CANDLE_BYTES
  }
  return found
}

/** Whether low, open, close, high are in that order, and volumes not less than what takers bought of them. */
function isOrdered(decimals: usize): bool {
  const open = decimals
  const high = open + DECIMAL_BYTES
  const low = high + DECIMAL_BYTES
  const close = low + DECIMAL_BYTES
  const volume = close + DECIMAL_BYTES
  if (isLessThan(open, low) || isLessThan(close, low) || isLessThan(high, open) || isLessThan(high, close)) return false
  // Volume and quote volume, then the same two of the takers.
  return (
    !isLessThan(volume, volume + 2 * DECIMAL_BYTES) && !isLessThan(volume + DECIMAL_BYTES, volume + 3 * DECIMAL_BYTES)
  )
}
