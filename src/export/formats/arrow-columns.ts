import { type Data, type DataType, makeData } from 'apache-arrow'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { NUMBERS_PER_ROW, OFFSETS_PER_ROW } from '../../klines/kernel/assembly/layout.js'
import { type Kernel, type RowAddress, sharedKernel } from '../../klines/kernel/kernel.js'
import type { SeriesColumn } from '../row-format.js'

/** Rows of a batch, and where a kernel finds them. */
export interface BatchRows {
  readonly batch: KlineBatch
  readonly kernel: Kernel
  readonly address: RowAddress
}

/** Prepares the rows of a batch for columns. Valid until the kernel reads another window. */
export function toBatchRows(batch: KlineBatch): BatchRows {
  const kernel = batch.kernel ?? sharedKernel()
  return { batch, kernel, address: kernel.addressOf(batch) }
}

/** One column of a record batch that is being filled. Its buffers are used again for every record batch. */
export interface ArrowColumn {
  /** Copies rows `start` to `end` of a batch to index `to` and up. */
  append(rows: BatchRows, start: number, end: number, to: number): void
  /** The first `length` values as Arrow stores them. */
  data(type: DataType, length: number): Data
}

const WORD = 2 ** 32

/** One of the three integers of a row as INT64. */
export class IntegerColumn implements ArrowColumn {
  private readonly words: Uint32Array

  /** `number`: index among the numbers of a row. */
  constructor(
    private readonly number: number,
    rows: number,
  ) {
    this.words = new Uint32Array(2 * rows)
  }

  append({ batch: { numbers } }: BatchRows, start: number, end: number, to: number): void {
    for (let row = start; row < end; row++) {
      const value = numbers[row * NUMBERS_PER_ROW + this.number]
      const word = 2 * (to + row - start)
      // Two's complement in two halves: a BigInt for each value would cost several times as much.
      const high = Math.floor(value / WORD)
      this.words[word] = value - high * WORD
      this.words[word + 1] = high
    }
  }

  data(type: DataType, length: number): Data {
    return toData(type, length, { data: new BigInt64Array(this.words.buffer, 0, length) })
  }
}

/** Text as Arrow's UTF-8: offsets and bytes. */
abstract class Utf8Column implements ArrowColumn {
  private readonly ends: Int32Array
  private text: Buffer

  constructor(rows: number) {
    this.ends = new Int32Array(rows + 1)
    this.text = Buffer.allocUnsafeSlow(24 * rows)
  }

  abstract append(rows: BatchRows, start: number, end: number, to: number): void

  data(type: DataType, length: number): Data {
    const valueOffsets = this.ends.subarray(0, length + 1)
    return toData(type, length, { valueOffsets, data: this.text.subarray(0, this.ends[length]) })
  }

  /** Writes `bytes[start, end)` as the value at index `to`; indexes come in order. */
  protected put(bytes: Uint8Array, start: number, end: number, to: number): void {
    const from = this.ends[to]
    const last = from + end - start
    if (last > this.text.length) {
      const larger = Buffer.allocUnsafeSlow(2 * last)
      this.text.copy(larger, 0, 0, from)
      this.text = larger
    }
    for (let i = 0; i < end - start; i++) this.text[from + i] = bytes[start + i]
    this.ends[to + 1] = last
  }
}

/** Cells as the source has them. */
export class TextColumn extends Utf8Column {
  constructor(
    private readonly column: number,
    rows: number,
  ) {
    super(rows)
  }

  append({ batch: { bytes, offsets } }: BatchRows, start: number, end: number, to: number): void {
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      this.put(bytes, offsets[cell], offsets[cell + 1], to + row - start)
    }
  }
}

/** The symbol or the interval of each row. */
export class SeriesNameColumn extends Utf8Column {
  constructor(
    private readonly name: SeriesColumn,
    rows: number,
  ) {
    super(rows)
  }

  append({ batch: { series } }: BatchRows, start: number, end: number, to: number): void {
    const name = Buffer.from(series[this.name])
    for (let row = start; row < end; row++) this.put(name, 0, name.length, to + row - start)
  }
}

/** A column's buffers as Arrow stores them; nothing is null. */
export function toData(type: DataType, length: number, buffers: object): Data {
  return makeData({ type, length, nullCount: 0, ...buffers } as never)
}
