import { COLUMN_KINDS, COLUMNS } from '../candles/columns.js'
import { trimDecimal } from './decimals.js'
import type { KlineBatch } from './kline-batch.js'
import { writePieces } from './wasm/row-writer.js'

/** The cells of a line: all but `ignore`. */
const KINDS = COLUMN_KINDS.slice(0, COLUMNS.length - 1)

const encoder = new TextEncoder()

/**
 * Writes candles in their canonical form, which fingerprints are made of: the eleven cells before `ignore` joined by commas, and a
 * line feed. Integers are as they are; a decimal loses the zeros that do not change its value, and a point without digits. `append`
 * gets the lines in pieces, each valid until the next one.
 */
export function writeCandleLines(batch: KlineBatch, append: (lines: Uint8Array) => void): void {
  const written = writePieces(batch, KINDS.length, append, (kernel, address, start, end) =>
    kernel.writeLines(address, start, end),
  )
  for (let row = written; row < batch.length; row++) {
    const cells = KINDS.map((kind, column) => {
      const text = batch.text(row, column)
      return kind === 'decimal' ? trimDecimal(text) : text
    })
    append(encoder.encode(`${cells.join()}\n`))
  }
}
