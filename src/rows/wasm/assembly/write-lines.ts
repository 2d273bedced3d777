import { DOT, ZERO } from './decimals'
import { OFFSETS_BYTES } from './layout'
import { copy } from './write-rows'

const LINE_FEED: u8 = 0x0a
const COMMA: u8 = 0x2c

/** All but the last one. Elements 0, 6 and 8 are integers, the others decimals. */
const CELLS: u32 = 11

/**
 * Writes the canonical lines of `rows` rows: cells joined by commas, decimals without zeros that do not change their value. Returns the
 * end of the output; up to 7 bytes behind it are overwritten.
 */
export function writeLines(bytes: usize, offsets: usize, rows: u32, to: usize): usize {
  for (let row: u32 = 0; row < rows; row++) {
    let cell = offsets + row * OFFSETS_BYTES
    for (let column: u32 = 0; column < CELLS; column++) {
      let start = bytes + load<u32>(cell)
      let end = bytes + load<u32>(cell + 4)
      if (column !== 0 && column !== 6 && column !== 8) {
        while (load<u8>(start) === ZERO && start + 1 < end && load<u8>(start + 1) !== DOT) start++
        if (load<u8>(end - 1) === ZERO) end = trimmedEnd(start, end)
      }
      to = copy(start, <u32>(end - start), to)
      store<u8>(to++, COMMA)
      cell += 8
    }
    store<u8>(to - 1, LINE_FEED)
  }
  return to
}

/** Where a decimal that ends in a zero ends without those behind its point. */
function trimmedEnd(start: usize, end: usize): usize {
  let last = end - 1
  while (last > start && load<u8>(last) === ZERO) last--
  if (load<u8>(last) === DOT) return last
  for (let byte = last; byte > start; byte--) if (load<u8>(byte) === DOT) return last + 1
  return end
}
