import { isLessThan, readDecimal, scanDecimal } from './decimals'
import { text, toDouble, UNDECIDED } from './doubles'
import { DECIMAL_BYTES, INEXACT, MAX, MIN, NUMBERS_BYTES, OFFSETS_BYTES } from './layout'

// Each function reads a column of `rows` rows, writes its values to `to`, brings their `summary` up to date, and returns how many
// it has read. `cells` is the address of the first row's cell in the index.

/** Reads numbers of an index as 64-bit integers. */
export function readIntegers(numbers: usize, rows: u32, to: usize, summary: usize): u32 {
  let min = load<f64>(summary + MIN)
  let max = load<f64>(summary + MAX)
  for (let row: u32 = 0; row < rows; row++) {
    const value = load<f64>(numbers)
    store<i64>(to, <i64>value)
    min = Math.min(min, value)
    max = Math.max(max, value)
    numbers += NUMBERS_BYTES
    to += 8
  }
  store<f64>(summary + MIN, min)
  store<f64>(summary + MAX, max)
  return rows
}

/** Reads decimals as the nearest doubles. Stops at a long one, and where it cannot tell whether a double holds all digits. */
export function readDoubles(bytes: usize, cells: usize, rows: u32, to: usize, summary: usize): u32 {
  let min = load<f64>(summary + MIN)
  let max = load<f64>(summary + MAX)
  let inexact = load<u32>(summary + INEXACT)
  let row: u32 = 0
  for (; row < rows; row++) {
    if (!scanDecimal(bytes + load<u32>(cells), bytes + load<u32>(cells + 4))) break
    const value = toDouble()
    if (text === UNDECIDED) break
    inexact += text
    store<f64>(to, value)
    min = Math.min(min, value)
    max = Math.max(max, value)
    cells += OFFSETS_BYTES
    to += 8
  }
  store<f64>(summary + MIN, min)
  store<f64>(summary + MAX, max)
  store<u32>(summary + INEXACT, inexact)
  return row
}

/** Reads decimals as 128-bit integers in units of 10^-8. Stops at one of more than 15 digits before the point or 8 after it. */
export function readDecimals(bytes: usize, cells: usize, rows: u32, to: usize, summary: usize, isBigEndian: bool): u32 {
  for (let row: u32 = 0; row < rows; row++) {
    if (!readDecimal(bytes + load<u32>(cells), bytes + load<u32>(cells + 4), to)) return row
    if (isLessThan(to, summary + MIN)) memory.copy(summary + MIN, to, DECIMAL_BYTES)
    if (isLessThan(summary + MAX, to)) memory.copy(summary + MAX, to, DECIMAL_BYTES)
    if (isBigEndian) {
      const low = load<u64>(to)
      store<u64>(to, bswap(load<u64>(to + 8)))
      store<u64>(to + 8, bswap(low))
    }
    cells += OFFSETS_BYTES
    to += DECIMAL_BYTES
  }
  return rows
}
