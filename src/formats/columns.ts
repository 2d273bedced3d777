import { COLUMNS } from '../candles/columns.js'
import type { OutputColumn } from '../options.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { INEXACT, MAX, MIN, OFFSETS_PER_ROW, SUMMARY_BYTES } from '../rows/wasm/assembly/layout.js'
import { type Kernel, type KernelCalls, OUTPUT_BYTES, type RowAddress, sharedKernel } from '../rows/wasm/kernel.js'
import type { Exporter } from './exporter.js'
import { isSeriesColumn } from './row-format.js'

/**
 * Buffers of finished files, which the next ones use again: memory outside of the heap stays until the whole heap is collected,
 * which is late. Without this, an export of many files takes twice the memory.
 */
const spare = new Map<number, ArrayBuffer[]>()
/** Buffers of one size: those of a Parquet file, which has a dozen columns. */
const MAX_SPARE = 24

function takeBuffer(bytes: number): ArrayBuffer {
  return spare.get(bytes)?.pop() ?? new ArrayBuffer(bytes)
}

function releaseBuffer(buffer: ArrayBuffer): void {
  const buffers = spare.get(buffer.byteLength) ?? []
  spare.set(buffer.byteLength, buffers)
  if (buffers.length < MAX_SPARE) buffers.push(buffer)
}

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

/** A column that is being filled. */
interface Column {
  /** Copies rows `start` to `end` of a batch to index `to` and up. */
  append(rows: BatchRows, start: number, end: number, to: number): void
  /** Gives its buffers to other columns; nothing may be called afterwards. */
  release(): void
}

/**
 * Values of one size, one after the other, as Parquet and Arrow store them. The kernel reads them, and what it finds on the way is in
 * their summary (see `layout.ts`).
 */
export abstract class FixedColumn<Value extends number | bigint> implements Column {
  protected readonly summary = new DataView(new ArrayBuffer(SUMMARY_BYTES))
  private bytes: Uint8Array<ArrayBuffer>
  /** The values that were taken last, which may still be in use. */
  private taken: Uint8Array<ArrayBuffer> | undefined

  constructor(
    rows: number,
    private readonly valueBytes: number,
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
      const read = rows.kernel.write(
        summary,
        (calls, to, head) => to + valueBytes * this.read(calls, rows.address, row, count, to, head),
      )
      this.bytes.set(read, place)
      if (read.length === 0) this.putLong(rows.batch, row++, new DataView(this.bytes.buffer, place, valueBytes))
      row += read.length / valueBytes
    }
  }

  /** The first `length` values, valid until the next are taken, and the least and greatest of them. The column begins again. */
  take(length: number): { readonly bytes: Uint8Array<ArrayBuffer>; readonly min: Value; readonly max: Value } {
    const { bytes } = this
    const bounds = { min: this.bound(MIN), max: this.bound(MAX) }
    this.bytes = this.taken ?? new Uint8Array(takeBuffer(bytes.length))
    this.taken = bytes
    this.clear()
    return { bytes: bytes.subarray(0, length * this.valueBytes), ...bounds }
  }

  release(): void {
    releaseBuffer(this.bytes.buffer)
    if (this.taken) releaseBuffer(this.taken.buffer)
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
  protected clear(): void {
    this.summary.setFloat64(MIN, Infinity, true)
    this.summary.setFloat64(MAX, -Infinity, true)
    this.summary.setUint32(INEXACT, 0, true)
  }

  protected abstract bound(offset: typeof MIN | typeof MAX): Value
}

/** Room for a text at first, bytes. */
const TEXT_BYTES = 24

/** Texts as UTF-8: cells as the source has them, or the symbol or interval of each row. */
export class TextColumn implements Column {
  private readonly ends: Int32Array<ArrayBuffer>
  private bytes: Uint8Array<ArrayBuffer>

  constructor(
    private readonly name: OutputColumn,
    rows: number,
  ) {
    this.ends = new Int32Array(takeBuffer(4 * (rows + 1)))
    this.bytes = new Uint8Array(takeBuffer(TEXT_BYTES * rows))
    this.ends[0] = 0
  }

  append({ batch: { series, bytes, offsets } }: BatchRows, start: number, end: number, to: number): void {
    const { name } = this
    const text = isSeriesColumn(name) ? Buffer.from(series[name]) : undefined
    const place = isSeriesColumn(name) ? 0 : 2 * COLUMNS.indexOf(name)
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + place
      if (text) this.put(text, 0, text.length, to + row - start)
      else this.put(bytes, offsets[cell], offsets[cell + 1], to + row - start)
    }
  }

  /** The first `length` texts, valid until more are added: each begins where the one before it ends, the first one at 0. */
  take(length: number): { readonly bytes: Uint8Array; readonly ends: Int32Array } {
    return { bytes: this.bytes.subarray(0, this.ends[length]), ends: this.ends.subarray(0, length + 1) }
  }

  release(): void {
    for (const { buffer } of [this.bytes, this.ends]) releaseBuffer(buffer)
  }

  /** Writes `source[start, end)` as the value at index `to`; indexes come in order. */
  private put(source: Uint8Array, start: number, end: number, to: number): void {
    const from = this.ends[to]
    const last = from + end - start
    while (last > this.bytes.length) {
      const larger = new Uint8Array(takeBuffer(2 * this.bytes.length))
      larger.set(this.bytes)
      releaseBuffer(this.bytes.buffer)
      this.bytes = larger
    }
    // Most texts are shorter than what a call of `set` costs.
    for (let i = 0; i < end - start; i++) this.bytes[from + i] = source[start + i]
    this.ends[to + 1] = last
  }
}

/**
 * Fills columns up to a number of rows, again and again, however the input is cut: the bytes of a file depend on its rows
 * alone.
 */
export abstract class ColumnExporter<C extends Column> implements Exporter {
  private filled = 0

  constructor(
    protected readonly columns: readonly C[],
    private readonly rows: number,
  ) {}

  /** Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  async write(batch: KlineBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.rows - this.filled)
      const rows = toBatchRows(batch)
      for (const column of this.columns) column.append(rows, start, end, this.filled)
      this.filled += end - start
      start = end
      if (this.filled === this.rows) await this.flushFilled()
    }
  }

  async end(): Promise<void> {
    await this.flushFilled()
    await this.finish()
    for (const column of this.columns) column.release()
  }

  /** Takes the values of the columns, which have as many rows as it is told. */
  protected abstract flush(rows: number): Promise<void>

  /** Writes the end of the file. */
  protected abstract finish(): Promise<void>

  private async flushFilled(): Promise<void> {
    const { filled } = this
    this.filled = 0
    if (filled > 0) await this.flush(filled)
  }
}
