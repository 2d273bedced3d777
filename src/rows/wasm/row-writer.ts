import { OFFSETS_BYTES, OFFSETS_PER_ROW, SLOT_BYTES } from './assembly/layout.js'
import { type IndexedRows, type Kernel, type KernelCalls, OUTPUT_BYTES, sharedKernel } from './kernel.js'

/** A cell of a row, and the fixed text in front of it. */
export interface CellSlot {
  readonly literal: string
  /** Index of the cell in a row, 0 to 11. */
  readonly column: number
}

export interface BatchRows extends IndexedRows {
  readonly kernel?: Kernel | undefined
}

const encoder = new TextEncoder()

/** Writes rows that consist of fixed text and of cells as they are. */
export class WasmRowWriter {
  /** Slots (see SLOT_BYTES), address and length of the text at a row's end, then all fixed text. */
  private readonly template: Uint8Array
  private readonly literalBytes: number

  /** `end`: the text at the end of a row. */
  constructor(
    private readonly slots: readonly CellSlot[],
    end: string,
  ) {
    const literals = [...slots.map(({ literal }) => literal), end].map(text => encoder.encode(text))
    this.literalBytes = literals.reduce((sum, { length }) => sum + length, 0)
    let address = SLOT_BYTES * slots.length + 8
    this.template = new Uint8Array(address + this.literalBytes)
    const view = new DataView(this.template.buffer)
    for (const [index, literal] of literals.entries()) {
      view.setUint32(SLOT_BYTES * index, address, true)
      view.setUint32(SLOT_BYTES * index + 4, literal.length, true)
      if (index < slots.length) view.setUint32(SLOT_BYTES * index + 8, 8 * slots[index].column, true)
      this.template.set(literal, address)
      address += literal.length
    }
  }

  /** Hands the text of rows to `append`, in pieces. Returns how many rows it wrote: all, or those before one that is too long. */
  write(batch: BatchRows, append: (text: Uint8Array) => void): number {
    const { template, slots, literalBytes } = this
    return writePieces(batch, literalBytes, append, template, (calls, bytes, offsets, rows, to, head) =>
      calls.writeRows(bytes, offsets, rows, head, slots.length, to),
    )
  }
}

/** Ten commas and a line feed. */
const LINE_BYTES = 11
const NO_TEMPLATE = new Uint8Array()

/** The same with canonical lines, as `writeCandleLines` describes them. */
export function writeLines(batch: BatchRows, append: (text: Uint8Array) => void): number {
  return writePieces(batch, LINE_BYTES, append, NO_TEMPLATE, (calls, bytes, offsets, rows, to) =>
    calls.writeLines(bytes, offsets, rows, to),
  )
}

/** Has a kernel write rows in pieces that fit into its output, with `literalBytes` of fixed text a row. */
function writePieces(
  batch: BatchRows,
  literalBytes: number,
  append: (text: Uint8Array) => void,
  template: Uint8Array,
  write: (calls: KernelCalls, bytes: number, offsets: number, rows: number, to: number, head: number) => number,
): number {
  const kernel = batch.kernel ?? sharedKernel()
  const { offsets } = batch
  const rows = offsets.length / OFFSETS_PER_ROW
  const address = kernel.addressOf(batch)
  const maxBytes = (start: number, end: number) =>
    offsets[end * OFFSETS_PER_ROW - 1] - offsets[start * OFFSETS_PER_ROW] + (end - start) * literalBytes
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
