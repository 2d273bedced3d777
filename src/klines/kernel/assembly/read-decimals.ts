import { readDecimal } from './candles'
import { DECIMAL_BYTES, OFFSETS_BYTES } from './layout'

/**
 * Reads one decimal of each of `rows` rows into 128-bit integers at `to`, in units of 10^-8. `cells` is the address of the
 * first row's cell in the index. Returns how many were read: it stops at a decimal with more than 15 digits before the point
 * or more than 8 after it. One byte behind the last integer is overwritten.
 */
export function readDecimals(bytes: usize, cells: usize, rows: u32, to: usize): u32 {
  for (let row: u32 = 0; row < rows; row++) {
    const start = bytes + load<u32>(cells)
    const end = bytes + load<u32>(cells + 4)
    if (!readDecimal(start, end, to, to + DECIMAL_BYTES)) return row
    cells += OFFSETS_BYTES
    to += DECIMAL_BYTES
  }
  return rows
}
