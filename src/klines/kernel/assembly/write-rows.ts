import { OFFSETS_BYTES, SLOT_BYTES } from './layout'

/**
 * Writes `rows` rows at `to`: for each of `count` slots at `program` a piece of fixed text and a cell, copied as it is, and at
 * the end of a row another piece. Gives where it ends; up to 7 bytes behind that are written over.
 */
export function writeRows(bytes: usize, offsets: usize, rows: u32, program: usize, count: u32, to: usize): usize {
  const end = program + count * SLOT_BYTES
  for (let row: u32 = 0; row < rows; row++) {
    for (let slot = program; slot < end; slot += SLOT_BYTES) {
      to = copy(program + load<u32>(slot), load<u32>(slot + 4), to)
      const cell = offsets + load<u32>(slot + 8)
      const start = load<u32>(cell)
      to = copy(bytes + start, load<u32>(cell + 4) - start, to)
    }
    to = copy(program + load<u32>(end), load<u32>(end + 4), to)
    offsets += OFFSETS_BYTES
  }
  return to
}

/** Copies 5 to 20 bytes sooner than memory.copy does; gives where they end. */
function copy(from: usize, length: u32, to: usize): usize {
  for (let at: usize = 0; at < length; at += 8) store<u64>(to + at, load<u64>(from + at))
  return to + length
}
