import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { COLUMN_KINDS, COLUMNS } from '../../klines/columns.js'
import { NUMBERS_PER_ROW } from '../../klines/kernel/assembly/layout.js'
import { type Kernel, type RowAddress, sharedKernel } from '../../klines/kernel/kernel.js'
import { isSeriesColumn, type NumberType, type OutputColumn } from '../row-format.js'
import { releaseBuffer, takeBuffer } from './spare-buffers.js'

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

/** How Parquet and Arrow store a column. */
export type ColumnType = 'time' | 'count' | 'double' | 'decimal' | 'text'

/** How a column is stored when decimals are stored as `numbers`. */
export function columnType(name: OutputColumn, numbers: NumberType): ColumnType {
  if (isSeriesColumn(name)) return 'text'
  const kind = COLUMN_KINDS[COLUMNS.indexOf(name)]
  return kind === 'decimal' ? numbers : kind
}

/** One column that is being filled. Its buffers are used again when they are full and were taken. */
export interface Column {
  /** Copies rows `start` to `end` of a batch to index `to` and up. */
  append(rows: BatchRows, start: number, end: number, to: number): void
}

/** A column of little-endian values of one size, as Parquet and Arrow store them. */
export interface FixedColumn<T> extends Column {
  /** The first `length` values. */
  values(length: number): T
  /** Gives its buffers to other columns; nothing may be called afterwards. */
  release(): void
}

const WORD = 2 ** 32
/** The integers of a row, in the order of a batch's numbers. */
const INTEGERS: readonly OutputColumn[] = ['open_time', 'close_time', 'count']

/** One of the three integers of a row as INT64. */
export class IntegerColumn implements FixedColumn<BigInt64Array> {
  private readonly number: number
  private readonly words: Uint32Array<ArrayBuffer>

  constructor(name: OutputColumn, rows: number) {
    this.number = INTEGERS.indexOf(name)
    this.words = new Uint32Array(takeBuffer(8 * rows))
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

  values(length: number): BigInt64Array {
    return new BigInt64Array(this.words.buffer, 0, length)
  }

  release(): void {
    releaseBuffer(this.words.buffer)
  }
}
