import type { KlineBatch } from '../rows/kline-batch.js'
import { MAX, MIN, SUMMARY_BYTES } from '../rows/wasm/assembly/layout.js'
import { type Kernel, OUTPUT_BYTES, type RowAddress, sharedKernel } from '../rows/wasm/kernel.js'
import type { KernelCalls } from '../rows/wasm/memory.js'
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

/**
 * Fills columns up to a number of rows, again and again, however the input is cut: the bytes of a file depend on its rows
 * alone.
 */
export class ColumnFiller {
  private filled = 0

  /** `flush` takes the values of the columns, which have as many rows as it is told. */
  constructor(
    private readonly columns: readonly Column[],
    private readonly rows: number,
    private readonly flush: (rows: number) => Promise<void>,
  ) {}

  /** Adds the rows of a batch. Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  async add(batch: KlineBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.rows - this.filled)
      const rows = toBatchRows(batch)
      for (const column of this.columns) column.append(rows, start, end, this.filled)
      this.filled += end - start
      start = end
      if (this.filled === this.rows) await this.end()
    }
  }

  /** Passes on the rows that are left. */
  async end(): Promise<void> {
    const { filled } = this
    this.filled = 0
    if (filled > 0) await this.flush(filled)
  }
}
