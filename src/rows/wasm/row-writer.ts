import { OFFSETS_BYTES, OFFSETS_PER_ROW, SLOT_BYTES } from './assembly/layout.js'
import { type IndexedRows, OUTPUT_BYTES, sharedKernel } from './kernel.js'

/** A cell of a row, and the fixed text in front of it. */
export interface CellSlot {
  readonly literal: string
  /** Index of the cell in a row, 0 to 11. */
  readonly column: number
  /** Whether the cell is a decimal that loses the zeros that do not change its value. */
  readonly isTrimmed?: boolean
}

/** Writes rows that consist of fixed text and of cells. */
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
      if (index < slots.length) {
        this.template.writeUInt32LE(8 * slots[index].column, slot + 8)
        this.template.writeUInt32LE(Number(slots[index].isTrimmed ?? false), slot + 12)
      }
      address += length
    }
  }

  /** Hands the text of rows to `append`, in pieces, each valid until the next one. Throws for a row of more than 512 KiB: it is no candle. */
  write(batch: IndexedRows, append: (text: Uint8Array) => void): void {
    const { template, slots } = this
    const { kernel = sharedKernel(), offsets } = batch
    const rows = offsets.length / OFFSETS_PER_ROW
    const address = kernel.addressOf(batch)
    // A row has its cells, and no more fixed text than the template. The text must fit into the output of the kernel.
    const maxBytes = (start: number, end: number) =>
      offsets[end * OFFSETS_PER_ROW - 1] - offsets[start * OFFSETS_PER_ROW] + (end - start) * template.length
    let start = 0
    while (start < rows) {
      let end = rows
      while (end > start && maxBytes(start, end) > OUTPUT_BYTES) end = start + ((end - start) >> 1)
      if (end === start) throw new RangeError(`A row has more than ${OUTPUT_BYTES} bytes.`)
      const first = address.offsets + start * OFFSETS_BYTES
      const text = kernel.write(template, (calls, to, head) =>
        calls.writeRows(address.bytes, first, end - start, head, slots.length, to),
      )
      append(text)
      start = end
    }
  }
}
