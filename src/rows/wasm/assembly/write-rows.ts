import { OFFSETS_BYTES, SLOT_BYTES } from './layout'

/**
 * Writes `rows` rows: for each of the `count` slots at `program` a fixed text and a cell as it is, and a fixed text at the end.
 * Returns the end of the output; up to 7 bytes behind it are overwritten.
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

/** Copies 5 to 20 bytes faster than memory.copy; returns the end of the copy. */
export function copy(from: usize, length: u32, to: usize): usize {
  for (let offset: usize = 0; offset < length; offset += 8) store<u64>(to + offset, load<u64>(from + offset))
  return to + length
}
