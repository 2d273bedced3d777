import { OFFSETS_BYTES, OFFSETS_PER_ROW, SLOT_BYTES } from './assembly/layout.js'
import { type IndexedRows, type KernelCalls, OUTPUT_BYTES, sharedKernel } from './kernel.js'

/** A cell of a row, and the fixed text in front of it. */
export interface CellSlot {
  readonly literal: string
  /** Index of the cell in a row, 0 to 11. */
  readonly column: number
}

/** Writes rows that consist of fixed text and of cells as they are. */
export class WasmRowWriter {
  /** Slots (see SLOT_BYTES), one more for the text at a row's end, then all fixed text. */
  private readonly template: Buffer

  /** `end`: the text at the end of a row. */
  constructor(
    private readonly slots: readonly CellSlot[],
    end: string,
  ) {
    const literals = [...slots.map(({ literal }) => literal), end].map(text => Buffer.from(text))
    let address = SLOT_BYTES * literals.length
    this.template = Buffer.concat([Buffer.alloc(address), ...literals])
    for (const [index, { length }] of literals.entries()) {
      const slot = SLOT_BYTES * index
      this.template.writeUInt32LE(address, slot)
      this.template.writeUInt32LE(length, slot + 4)
      if (index < slots.length) this.template.writeUInt32LE(8 * slots[index].column, slot + 8)
      address += length
    }
  }

  /** Hands the text of rows to `append`, in pieces. Returns how many rows it wrote: all, or those before one that is too long. */
  write(batch: IndexedRows, append: (text: Uint8Array) => void): number {
    return writePieces(batch, this.template, append, (calls, bytes, offsets, rows, to, head) =>
      calls.writeRows(bytes, offsets, rows, head, this.slots.length, to),
    )
  }
}

/** The fixed text of a line. */
const LINE = Buffer.from(',,,,,,,,,,\n')

/** The same with canonical lines, as `writeCandleLines` describes them. */
export function writeLines(batch: IndexedRows, append: (text: Uint8Array) => void): number {
  return writePieces(batch, LINE, append, (calls, bytes, offsets, rows, to) =>
    calls.writeLines(bytes, offsets, rows, to),
  )
}

/** Has a kernel write rows in pieces that fit into its output: a row has its cells, and no more fixed text than the template. */
function writePieces(
  batch: IndexedRows,
  template: Buffer,
  append: (text: Uint8Array) => void,
  write: (calls: KernelCalls, bytes: number, offsets: number, rows: number, to: number, head: number) => number,
): number {
  const { kernel = sharedKernel(), offsets } = batch
  const rows = offsets.length / OFFSETS_PER_ROW
  const address = kernel.addressOf(batch)
  const maxBytes = (start: number, end: number) =>
    offsets[end * OFFSETS_PER_ROW - 1] - offsets[start * OFFSETS_PER_ROW] + (end - start) * template.length
  let start = 0
  while (start < rows) {
    let end = rows
    while (end > start && maxBytes(start, end) > OUTPUT_BYTES) end = start + ((end - start) >> 1)
    if (end === start) break
    const first = address.offsets + start * OFFSETS_BYTES
    append(kernel.write(template, (calls, to, head) => write(calls, address.bytes, first, end - start, to, head)))
    start = end
  }
  return start
}
