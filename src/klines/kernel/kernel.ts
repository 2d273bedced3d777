import { KlineBatch, NUMBERS_PER_ROW, OFFSETS_PER_ROW } from '../batch/kline-batch.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'
import { NUMBERS_BYTES, OFFSETS_BYTES } from './assembly/layout.js'
import { MARGIN, SharedMemory } from './memory.js'

/** Where rows and their index lie in a kernel's memory; `bytes` is what the offsets count from. */
export interface RowAddress {
  readonly bytes: number
  readonly offsets: number
  readonly numbers: number
}

/** Larger files, 100 times the largest window of the service, are left to the slow path. */
const MAX_INPUT = 16 * 1024 * 1024
/** A file's room at first; the largest window of the service has 139,569 bytes. */
const FIRST_INPUT = 256 * 1024
/** Room for rows that are written. */
export const OUTPUT_BYTES = 512 * 1024
/** Room for what says how. */
export const PROGRAM_BYTES = 8 * 1024
/** No row of the wire form is shorter: `[0,"1","1","1","1","1",0,"1",0,"1","1",""],`. */
const SHORTEST_ROW = 43

/** How rows are written by copying: slots (see SLOT_BYTES), address and length of the text at a row's end, then all text. */
export interface RowProgram {
  readonly bytes: Uint8Array
  readonly slots: number
}

/**
 * A memory in which windows are indexed, candles read, added up and compared, and rows written, all by the compiled loops of
 * src/kernel. Views of it are good until it grows, which any `allocate` may do.
 */
export class Kernel extends SharedMemory {
  private input = { at: 0, size: 0, offsets: 0, numbers: 0 }
  private output = 0
  private readonly names = new Map([['0', 0]])
  private readonly texts = ['0']

  /** The kernel in whose memory a batch lies. */
  static of({ bytes, offsets }: KlineBatch): Kernel | undefined {
    const owner = bytes.buffer === offsets.buffer ? SharedMemory.owner(bytes.buffer) : undefined
    return owner instanceof Kernel ? owner : undefined
  }

  /** Where a file of `size` bytes can be read to and indexed without being copied; good until the next one. */
  buffer(size: number): Buffer {
    if (size > MAX_INPUT) return Buffer.allocUnsafeSlow(size)
    this.reserve(size)
    return Buffer.from(this.view.buffer, this.input.at, size)
  }

  /**
   * The rows of a window in the wire form, undefined for anything else. The batch points into this memory: it is good until the
   * kernel is used again.
   */
  index(bytes: Uint8Array, { symbol, interval }: Series, { startTime, endTime }: WindowSpan): KlineBatch | undefined {
    const { length } = bytes
    if (length > MAX_INPUT) return undefined
    if (!this.holds(bytes)) this.copy(bytes)
    const { at, offsets, numbers } = this.input
    const rows = this.calls.indexRows(at, length, startTime, endTime, offsets, numbers)
    if (rows < 0) return undefined
    const { buffer } = this.view
    return new KlineBatch(
      { symbol, interval },
      bytes,
      new Uint32Array(buffer, offsets, rows * OFFSETS_PER_ROW),
      new Float64Array(buffer, numbers, rows * NUMBERS_PER_ROW),
      true,
    )
  }

  /** Where the rows of a batch lie; they are copied here unless they are here already. */
  addressOf(batch: KlineBatch): RowAddress {
    if (Kernel.of(batch) !== this) return this.import(batch)
    const { bytes, offsets, numbers } = batch
    return { bytes: bytes.byteOffset, offsets: offsets.byteOffset, numbers: numbers.byteOffset }
  }

  /** Rows `start` to `end` (exclusive) in the form that a program says; good until the next ones. At most OUTPUT_BYTES. */
  write({ bytes, offsets }: RowAddress, start: number, end: number, { bytes: program, slots }: RowProgram): Uint8Array {
    const to = this.output + PROGRAM_BYTES
    new Uint8Array(this.view.buffer).set(program, this.output)
    const rows = offsets + start * OFFSETS_BYTES
    const writtenTo = this.calls.writeRows(bytes, rows, end - start, this.output, slots, to)
    return new Uint8Array(this.view.buffer, to, writtenTo - to)
  }

  /** The text of a cell. */
  text({ bytes, offsets }: RowAddress, row: number, column: number): string {
    const { view } = this
    const cell = offsets + row * OFFSETS_BYTES + 8 * column
    const [start, end] = [view.getUint32(cell, true), view.getUint32(cell + 4, true)]
    return Buffer.from(this.view.buffer, bytes + start, end - start).toString()
  }

  /** The number that stands for a text; 0 for `0`. */
  intern(text: string): number {
    const known = this.names.get(text)
    if (known !== undefined) return known
    this.names.set(text, this.texts.length)
    return this.texts.push(text) - 1
  }

  /** The text that a number stands for. */
  internedText(name: number): string {
    return this.texts[name]
  }

  /** Whether these bytes are the ones in the input. */
  private holds({ buffer, byteOffset }: Uint8Array): boolean {
    return buffer === this.view.buffer && byteOffset === this.input.at
  }

  private copy(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    new Uint8Array(this.view.buffer).set(bytes, this.input.at)
  }

  /** Copies a batch and its index into the input. */
  private import({ bytes, offsets, numbers, length }: KlineBatch): RowAddress {
    // A slice shares the bytes of its window: those of its rows will do.
    const start = length === 0 ? 0 : offsets[0]
    const part = bytes.subarray(start, offsets.at(-1))
    this.reserve(Math.max(part.length, length * SHORTEST_ROW))
    const { input } = this
    const { buffer } = this.view
    new Uint8Array(buffer).set(part, input.at)
    new Uint32Array(buffer, input.offsets).set(offsets)
    new Float64Array(buffer, input.numbers).set(numbers)
    return { bytes: input.at - start, offsets: input.offsets, numbers: input.numbers }
  }

  private reserve(size: number): void {
    if (size <= this.input.size) return
    // Now, as memory that grows later would take a batch's views away.
    if (this.output === 0) this.output = this.allocate(PROGRAM_BYTES + OUTPUT_BYTES + MARGIN)
    const room = Math.max(FIRST_INPUT, 2 * size)
    const rows = Math.ceil(room / SHORTEST_ROW)
    this.input = {
      // Behind a file all stays zero, so that no cell goes on for ever; in front of it digits are read by eights.
      at: this.allocate(MARGIN + room + MARGIN) + MARGIN,
      size: room,
      offsets: this.allocate(rows * OFFSETS_BYTES),
      numbers: this.allocate(rows * NUMBERS_BYTES),
    }
  }
}
