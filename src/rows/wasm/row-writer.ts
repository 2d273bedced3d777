import { OFFSETS_PER_ROW, SLOT_BYTES } from './assembly/layout.js'
import { type IndexedRows, type Kernel, OUTPUT_BYTES, type RowAddress, sharedKernel, TEMPLATE_BYTES } from './kernel.js'

/** A cell of a row, and the fixed text in front of it. */
export interface CellSlot {
  readonly literal: string
  /** Index of the cell in a row, 0 to 11. */
  readonly column: number
}

const encoder = new TextEncoder()

/** Writes rows that consist of fixed text and of cells as they are. */
export class WasmRowWriter {
  private constructor(
    /** Slots (see SLOT_BYTES), address and length of the text at a row's end, then all fixed text. */
    private readonly template: Uint8Array,
    private readonly slots: number,
    private readonly literalBytes: number,
  ) {}

  /** `end`: the text at the end of a row. Returns undefined when there is too much fixed text. */
  static create(slots: readonly CellSlot[], end: string): WasmRowWriter | undefined {
    const literals = [...slots.map(({ literal }) => literal), end].map(text => encoder.encode(text))
    const literalBytes = literals.reduce((sum, { length }) => sum + length, 0)
    let address = SLOT_BYTES * slots.length + 8
    if (address + literalBytes > TEMPLATE_BYTES) return undefined
    const template = new Uint8Array(address + literalBytes)
    const view = new DataView(template.buffer)
    for (const [index, literal] of literals.entries()) {
      view.setUint32(SLOT_BYTES * index, address, true)
      view.setUint32(SLOT_BYTES * index + 4, literal.length, true)
      if (index < slots.length) view.setUint32(SLOT_BYTES * index + 8, 8 * slots[index].column, true)
      template.set(literal, address)
      address += literal.length
    }
    return new WasmRowWriter(template, slots.length, literalBytes)
  }

  /** Hands the text of rows to `append`, in pieces. Returns how many rows it wrote: all, or those before one that is too long. */
  write(batch: BatchRows, append: (text: Uint8Array) => void): number {
    const { template, slots, literalBytes } = this
    return writePieces(batch, literalBytes, append, (kernel, address, start, end) =>
      kernel.write(address, start, end, template, slots),
    )
  }
}

type BatchRows = IndexedRows & { readonly kernel?: Kernel | undefined }

/**
 * Has a kernel write rows, in pieces that fit into its output, with `literalBytes` of fixed text a row at most. Returns
 * how many rows it wrote: all, or those before one that is too long.
 */
export function writePieces(
  batch: BatchRows,
  literalBytes: number,
  append: (text: Uint8Array) => void,
  write: (kernel: Kernel, address: RowAddress, start: number, end: number) => Uint8Array,
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
    append(write(kernel, address, start, end))
    start = end
  }
  return start
}
