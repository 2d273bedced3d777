import type { ByteBuffer } from '../../export/formats/byte-buffer.js'
import { type KlineBatch, OFFSETS_PER_ROW } from '../batch/kline-batch.js'
import { SLOT_BYTES } from './assembly/layout.js'
import { Kernel, OUTPUT_BYTES, PROGRAM_BYTES, type RowProgram } from './kernel.js'

/** Fixed text, ready to be copied: a few more bytes can be read behind it. */
export interface Literal {
  readonly bytes: DataView
  readonly length: number
}

/** A cell that is copied, and the fixed text in front of it. */
export interface CopiedCell {
  readonly literal: Literal
  /** Index of the cell in a batch's row. */
  readonly column: number
}

/** For batches that lie in no kernel's memory. */
let shared: Kernel | undefined

/** Rows made of fixed text and cells as they are, which compiled code puts together. */
export class WasmRowWriter {
  private readonly program: RowProgram
  private readonly fixedBytes: number

  private constructor(cells: readonly CopiedCell[], end: Literal, bytes: Uint8Array) {
    const view = new DataView(bytes.buffer)
    let at = SLOT_BYTES * cells.length + 8
    this.fixedBytes = end.length
    for (const [index, { literal, column }] of [...cells, { literal: end, column: 0 }].entries()) {
      view.setUint32(SLOT_BYTES * index, at, true)
      view.setUint32(SLOT_BYTES * index + 4, literal.length, true)
      if (index < cells.length) view.setUint32(SLOT_BYTES * index + 8, 8 * column, true)
      bytes.set(new Uint8Array(literal.bytes.buffer, literal.bytes.byteOffset, literal.length), at)
      at += literal.length
      this.fixedBytes += literal.length
    }
    this.program = { bytes, slots: cells.length }
  }

  /** Undefined when there is too much fixed text. */
  static of(cells: readonly CopiedCell[], end: Literal): WasmRowWriter | undefined {
    const text = cells.reduce((sum, { literal }) => sum + literal.length, end.length)
    const size = SLOT_BYTES * cells.length + 8 + text
    return size > PROGRAM_BYTES ? undefined : new WasmRowWriter(cells, end, new Uint8Array(size))
  }

  /** Writes the rows of a batch, and gives how many: all, or those before one that is too long. */
  write(batch: KlineBatch, out: ByteBuffer): number {
    shared ??= new Kernel()
    const kernel = Kernel.of(batch) ?? shared
    const rows = kernel.addressOf(batch)
    let start = 0
    while (start < batch.length) {
      let end = batch.length
      while (end > start && this.mostBytes(batch, start, end) > OUTPUT_BYTES) end = start + ((end - start) >> 1)
      if (end === start) break
      out.append(kernel.write(rows, start, end, this.program))
      start = end
    }
    return start
  }

  private mostBytes({ offsets }: KlineBatch, start: number, end: number): number {
    const cells = offsets[end * OFFSETS_PER_ROW - 1] - offsets[start * OFFSETS_PER_ROW]
    return cells + (end - start) * this.fixedBytes
  }
}
