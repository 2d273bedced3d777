import { COLUMNS } from '../candles/columns.js'
import { DECIMAL_SCALE, shiftPoint, trimDecimal } from '../candles/decimals.js'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import type { OutputColumn } from '../options.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import {
  DECIMAL_BYTES,
  INEXACT,
  MAX,
  MIN,
  NUMBERS_BYTES,
  OFFSETS_BYTES,
  SUMMARY_BYTES,
} from '../rows/wasm/assembly/layout.js'
import { type KernelCalls, OUTPUT_BYTES, type RowAddress, sharedKernel } from '../rows/wasm/kernel.js'
import type { Exporter, ExporterOptions } from './exporter.js'
import { type ColumnType, columnType } from './row-format.js'
import { type BatchRows, RUN_COLUMNS, RunColumn, TextColumn } from './text-columns.js'

/** Digits of DECIMAL(38,8) in all. */
export const DECIMAL_PRECISION = 38

/** The order of bytes in a decimal: Arrow has the lowest first, Parquet the highest. */
type Endian = 'little' | 'big'

/** The numbers of a row, in the order of a batch. */
const INTEGERS: readonly OutputColumn[] = ['open_time', 'close_time', 'count']

/**
 * Values of one size, one after the other, as Parquet and Arrow store them: INT64, doubles, or DECIMAL(38,8) as 128-bit
 * integers. The kernel reads them, and what it finds on the way is in their summary (see `layout.ts`).
 */
export class NumberColumn {
  private readonly valueBytes: number
  private readonly summary = new DataView(new ArrayBuffer(SUMMARY_BYTES))
  private bytes: Uint8Array<ArrayBuffer>
  /** What was taken before: two take turns. */
  private spare: Uint8Array<ArrayBuffer> | undefined
  private readonly column: number

  constructor(
    private readonly name: OutputColumn,
    private readonly type: Exclude<ColumnType, 'text'>,
    private readonly endian: Endian,
    rows: number,
    private readonly stats: ExporterOptions['stats'],
  ) {
    this.column = COLUMNS.indexOf(name as (typeof COLUMNS)[number])
    this.valueBytes = type === 'decimal' ? DECIMAL_BYTES : 8
    this.bytes = new Uint8Array(rows * this.valueBytes)
    this.clear()
  }

  /** Copies rows `start` to `end` of a batch to index `to` and up. Throws `digits_lost` for a decimal that does not fit. */
  append({ batch, kernel, address }: BatchRows, start: number, end: number, to: number): void {
    const { valueBytes } = this
    const summary = new Uint8Array(this.summary.buffer)
    for (let row = start; row < end; ) {
      const place = (to + row - start) * valueBytes
      const count = Math.min(end - row, OUTPUT_BYTES / valueBytes)
      const read = kernel.write(
        summary,
        (calls, to, head) => to + valueBytes * this.read(calls, address, row, count, to, head),
      )
      this.bytes.set(read, place)
      if (read.length === 0) this.putLong(batch, row++, new DataView(this.bytes.buffer, place, valueBytes))
      row += read.length / valueBytes
    }
  }

  /** The first `length` values, valid until the next call, and the least and greatest of them. The column begins again. */
  take(length: number): { bytes: Uint8Array<ArrayBuffer>; min: number | bigint; max: number | bigint } {
    const { bytes, summary, type } = this
    if (type === 'double') this.stats.inexactDoubles += summary.getUint32(INEXACT, true)
    const [min, max] = [this.bound(MIN), this.bound(MAX)]
    this.bytes = this.spare ?? new Uint8Array(bytes.length)
    this.spare = bytes
    this.clear()
    return { bytes: bytes.subarray(0, length * this.valueBytes), min, max }
  }

  /** Reads up to `rows` rows from `row` on to the address `to`. Returns how many it has read; 0 for a value that is too long. */
  private read(calls: KernelCalls, address: RowAddress, row: number, rows: number, to: number, summary: number) {
    const { bytes, offsets, numbers } = address
    const cells = offsets + row * OFFSETS_BYTES + 8 * this.column
    if (this.type === 'double') return calls.readDoubles(bytes, cells, rows, to, summary)
    if (this.type === 'decimal')
      return calls.readDecimals(bytes, cells, rows, to, summary, Number(this.endian === 'big'))
    const place = 8 * INTEGERS.indexOf(this.name)
    return calls.readIntegers(numbers + row * NUMBERS_BYTES + place, rows, to, summary)
  }

  /** Stores a decimal that is too long for the kernel. */
  private putLong(batch: KlineBatch, row: number, to: DataView): void {
    const text = batch.text(row, this.column)
    const value = this.type === 'double' ? Number(text) : parseDecimal(text)
    if (value === undefined) throw tooManyDigits(batch, row, this.column)
    if (typeof value === 'number' && !isSameNumber(value, text)) this.stats.inexactDoubles++
    setValue(to, 0, value, this.endian)
    if (value < this.bound(MIN)) setValue(this.summary, MIN, value)
    if (value > this.bound(MAX)) setValue(this.summary, MAX, value)
  }

  /** Makes the summary that of no values. */
  private clear(): void {
    const isDecimal = this.type === 'decimal'
    setValue(this.summary, MIN, isDecimal ? 2n ** 128n - 1n : Infinity)
    setValue(this.summary, MAX, isDecimal ? 0n : -Infinity)
    this.summary.setUint32(INEXACT, 0, true)
  }

  private bound(offset: typeof MIN | typeof MAX): number | bigint {
    const { summary, type } = this
    if (type === 'decimal') return (summary.getBigUint64(offset + 8, true) << 64n) + summary.getBigUint64(offset, true)
    const value = summary.getFloat64(offset, true)
    return type === 'double' ? value : BigInt(value)
  }
}

/**
 * A decimal (`\d+(\.\d+)?`) in units of 10^-8; undefined for more than 8 digits after the point (zeros at the end do not
 * count) or more than 30 before it.
 */
export function parseDecimal(text: string): bigint | undefined {
  const [whole, fraction = ''] = trimDecimal(text).split('.')
  if (whole.length > DECIMAL_PRECISION - DECIMAL_SCALE || fraction.length > DECIMAL_SCALE) return undefined
  return BigInt(whole + fraction.padEnd(DECIMAL_SCALE, '0'))
}

/** Whether the shortest text of a double is the same number as a decimal. */
export function isSameNumber(double: number, decimal: string): boolean {
  return trimDecimal(withoutExponent(double)) === trimDecimal(decimal)
}

function withoutExponent(value: number): string {
  const text = String(value)
  const [, digits, fraction = '', power] = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  return digits === undefined ? text : shiftPoint(digits + fraction, Number(power) - fraction.length)
}

/** Writes a double, little-endian, or a 128-bit integer. */
function setValue(view: DataView, offset: number, value: number | bigint, endian: Endian = 'little'): void {
  if (typeof value === 'number') {
    view.setFloat64(offset, value, true)
    return
  }
  const isLittle = endian === 'little'
  view.setBigUint64(offset + (isLittle ? 0 : 8), BigInt.asUintN(64, value), isLittle)
  view.setBigUint64(offset + (isLittle ? 8 : 0), value >> 64n, isLittle)
}

function tooManyDigits(batch: KlineBatch, row: number, column: number): KlinesError {
  const place = `${seriesName(batch.series)} ${new Date(batch.openTime(row)).toISOString()}`
  const value = `${COLUMNS[column]} ${batch.text(row, column).slice(0, 60)}`
  const limit = 'at most 30 digits before the point and 8 after it'
  return new KlinesError('digits_lost', `${place}: ${value} does not fit DECIMAL(38,8): ${limit}.`, {
    suggestions: ['Use --numbers text, which keeps every digit.'],
  })
}

export type Column = NumberColumn | RunColumn | TextColumn

/** Fills columns up to a number of rows, however the input is cut: the bytes of a file depend on its rows alone. */
export abstract class ColumnExporter implements Exporter {
  protected readonly columns: readonly Column[]
  private filled = 0

  constructor(
    { rowFormat: { columns, numbers }, stats }: ExporterOptions,
    endian: Endian,
    private readonly rows: number,
  ) {
    this.columns = columns.map(name => {
      if (RUN_COLUMNS.includes(name)) return new RunColumn(name)
      const type = columnType(name, numbers)
      return type === 'text' ? new TextColumn(name, rows) : new NumberColumn(name, type, endian, rows, stats)
    })
  }

  /** Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  async write(batch: KlineBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.rows - this.filled)
      const kernel = batch.kernel ?? sharedKernel()
      const rows = { batch, kernel, address: kernel.addressOf(batch) }
      for (const column of this.columns) column.append(rows, start, end, this.filled)
      this.filled += end - start
      start = end
      if (this.filled === this.rows) await this.flushFilled()
    }
  }

  async end(): Promise<void> {
    await this.flushFilled()
    await this.finish()
  }

  /** Takes the values of so many rows from the columns. */
  protected abstract flush(rows: number): Promise<void>

  protected abstract finish(): Promise<void>

  private async flushFilled(): Promise<void> {
    const { filled } = this
    this.filled = 0
    if (filled > 0) await this.flush(filled)
  }
}
