import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { MAX, MIN, NUMBERS_BYTES, SUMMARY_BYTES } from '../../klines/kernel/assembly/layout.js'
import { type Kernel, OUTPUT_BYTES, type RowAddress, sharedKernel } from '../../klines/kernel/kernel.js'
import type { KernelCalls } from '../../klines/kernel/memory.js'
import type { OutputColumn } from '../../options/output-options.js'
import { releaseBuffer, takeBuffer } from './buffers.js'

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

/** One column that is being filled. Its buffers are used again when they are full and were taken. */
export interface Column {
  /** Copies rows `start` to `end` of a batch to index `to` and up. */
  append(rows: BatchRows, start: number, end: number, to: number): void
}

/** Values of one size, one after the other, with the least and the greatest of them. */
export interface ColumnValues<Value> {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly min: Value
  readonly max: Value
}

/**
 * A column of values of one size, as Parquet and Arrow store them. The kernel reads them, and what it finds on the way is in their
 * summary (see `layout.ts`).
 */
export abstract class FixedColumn<Value extends number | bigint> implements Column {
  protected readonly summary = new DataView(new ArrayBuffer(SUMMARY_BYTES))
  private bytes: Uint8Array<ArrayBuffer>

  constructor(
    rows: number,
    readonly valueBytes: number,
  ) {
    this.bytes = new Uint8Array(takeBuffer(rows * valueBytes))
    this.clear()
  }

  append(rows: BatchRows, start: number, end: number, to: number): void {
    const { valueBytes } = this
    const most = OUTPUT_BYTES / valueBytes
    const summary = new Uint8Array(this.summary.buffer)
    for (let row = start; row < end; ) {
      const place = (to + row - start) * valueBytes
      const count = Math.min(end - row, most)
      const read = rows.kernel.readColumn(
        summary,
        (calls, address, summary) => valueBytes * this.read(calls, rows.address, row, count, address, summary),
      )
      this.bytes.set(read, place)
      if (read.length === 0) this.putLong(rows.batch, row++, new DataView(this.bytes.buffer, place, valueBytes))
      row += read.length / valueBytes
    }
  }

  /** The first `length` values, and the least and greatest of them. The next ones go to `next`, or over these. */
  take(length: number, next = this.bytes): ColumnValues<Value> {
    const bytes = this.bytes.subarray(0, length * this.valueBytes)
    const values = { bytes, min: this.bound(MIN), max: this.bound(MAX) }
    this.bytes = next
    this.clear()
    return values
  }

  /** Gives its buffer to other columns; nothing may be called afterwards. */
  release(): void {
    releaseBuffer(this.bytes.buffer)
  }

  /** Reads up to `rows` rows from `row` on to the address `to`. Returns how many it has read; 0 for a value that is too long. */
  protected abstract read(
    calls: KernelCalls,
    address: RowAddress,
    row: number,
    rows: number,
    to: number,
    summary: number,
  ): number

  /** Stores a value that is too long for the kernel. */
  protected abstract putLong(batch: KlineBatch, row: number, to: DataView): void

  /** Makes the summary that of no values. */
  protected abstract clear(): void

  protected abstract bound(offset: typeof MIN | typeof MAX): Value
}

/** The three integers of a row, in the order of a batch's numbers. */
const INTEGERS: readonly OutputColumn[] = ['open_time', 'close_time', 'count']

/** One of the three integers of a row as INT64, little-endian. */
export class IntegerColumn extends FixedColumn<bigint> {
  private readonly place: number

  constructor(name: OutputColumn, rows: number) {
    super(rows, 8)
    this.place = 8 * INTEGERS.indexOf(name)
  }

  protected read(calls: KernelCalls, { numbers }: RowAddress, row: number, rows: number, to: number, summary: number) {
    return calls.readIntegers(numbers + row * NUMBERS_BYTES + this.place, rows, to, summary)
  }

  protected putLong(): never {
    throw new Error('The kernel reads every integer.')
  }

  protected clear(): void {
    this.summary.setFloat64(MIN, Infinity, true)
    this.summary.setFloat64(MAX, -Infinity, true)
  }

  protected bound(offset: number): bigint {
    return BigInt(this.summary.getFloat64(offset, true))
  }
}
