import { COLUMN_KINDS, COLUMNS } from '../columns.js'
import { OFFSETS_PER_ROW } from '../kernel/assembly/layout.js'
import type { KlineBatch } from './kline-batch.js'

const [LINE_FEED, COMMA, POINT, ZERO] = [0x0a, 0x2c, 0x2e, 0x30]
/** The cells of a line: all but `ignore`. */
const CELLS = COLUMNS.length - 1
const IS_DECIMAL = COLUMN_KINDS.map(kind => kind === 'decimal')
const FIRST_BYTES = 64 * 1024

/**
 * Writes candles in their canonical form, which fingerprints are made of: the eleven cells before `ignore` joined by commas, and a
 * line feed. Integers are as they are; a decimal loses the zeros that do not change its value, and a point without digits.
 */
export class CandleLines {
  private bytes = new Uint8Array(FIRST_BYTES)

  /** The lines of all rows; valid until the next call. */
  write({ bytes, offsets, length }: KlineBatch): Uint8Array {
    if (length === 0) return this.bytes.subarray(0, 0)
    // The cells of a batch follow each other.
    this.reserve(offsets[offsets.length - 1] - offsets[0] + length * CELLS)
    const out = this.bytes
    let end = 0
    for (let row = 0; row < offsets.length; row += OFFSETS_PER_ROW) {
      for (let column = 0; column < CELLS; column++) {
        let start = offsets[row + 2 * column]
        let stop = offsets[row + 2 * column + 1]
        if (IS_DECIMAL[column]) {
          while (bytes[start] === ZERO && start + 1 < stop && bytes[start + 1] !== POINT) start++
          if (bytes[stop - 1] === ZERO) stop = trimmedEnd(bytes, start, stop)
        }
        for (let i = start; i < stop; i++) out[end++] = bytes[i]
        out[end++] = COMMA
      }
      out[end - 1] = LINE_FEED
    }
    return out.subarray(0, end)
  }

  private reserve(size: number): void {
    if (size > this.bytes.length) this.bytes = new Uint8Array(2 * size)
  }
}

/** Where a decimal that ends in a zero ends without those behind its point. */
function trimmedEnd(bytes: Uint8Array, start: number, stop: number): number {
  let point = start
  while (point < stop && bytes[point] !== POINT) point++
  if (point === stop) return stop
  let end = stop
  while (bytes[end - 1] === ZERO) end--
  return end - 1 === point ? point : end
}
