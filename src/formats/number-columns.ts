import { COLUMNS, type Column } from '../candles/columns.js'
import { isSameNumber, parseDecimal } from '../candles/decimals.js'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import type { NumberType, OutputColumn } from '../options.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { DECIMAL_BYTES, INEXACT, MAX, MIN, NUMBERS_BYTES, OFFSETS_BYTES } from '../rows/wasm/assembly/layout.js'
import type { KernelCalls, RowAddress } from '../rows/wasm/kernel.js'
import { FixedColumn, TextColumn } from './columns.js'
import type { ExportStats } from './exporter.js'
import { columnType } from './row-format.js'

type Endian = 'little' | 'big'

/** The three integers of a row, in the order of a batch's numbers. */
const INTEGERS: readonly OutputColumn[] = ['open_time', 'close_time', 'count']

/** The column of that name, with room for `rows` values. `stats` counts the doubles that lose digits. */
export function createColumn(
  name: OutputColumn,
  { numbers, endian }: { readonly numbers: NumberType; readonly endian: Endian },
  rows: number,
  stats: ExportStats,
): FixedColumn<number | bigint> | TextColumn {
  const type = columnType(name, numbers)
  const column = COLUMNS.indexOf(name as Column)
  if (type === 'text') return new TextColumn(name, rows)
  if (type === 'double') return new DoubleColumn(column, rows, stats)
  return type === 'decimal' ? new DecimalColumn(column, rows, endian) : new IntegerColumn(name, rows)
}

/** One of the three integers of a row as INT64, little-endian. */
class IntegerColumn extends FixedColumn<bigint> {
  constructor(
    private readonly name: OutputColumn,
    rows: number,
  ) {
    super(rows, 8)
  }

  protected read(calls: KernelCalls, { numbers }: RowAddress, row: number, rows: number, to: number, summary: number) {
    const place = 8 * INTEGERS.indexOf(this.name)
    return calls.readIntegers(numbers + row * NUMBERS_BYTES + place, rows, to, summary)
  }

  protected putLong(): never {
    throw new Error('The kernel reads every integer.')
  }

  protected bound(offset: number): bigint {
    return BigInt(this.summary.getFloat64(offset, true))
  }
}

/** Decimals as the nearest doubles, little-endian; those that lose digits are counted. */
export class DoubleColumn extends FixedColumn<number> {
  constructor(
    private readonly column: number,
    rows: number,
    private readonly stats: ExportStats,
  ) {
    super(rows, 8)
  }

  override take(length: number) {
    this.stats.inexactDoubles += this.summary.getUint32(INEXACT, true)
    return super.take(length)
  }

  protected read(calls: KernelCalls, address: RowAddress, row: number, rows: number, to: number, summary: number) {
    return calls.readDoubles(address.bytes, cellAddress(address, row, this.column), rows, to, summary)
  }

  protected putLong(batch: KlineBatch, row: number, to: DataView): void {
    const text = batch.text(row, this.column)
    const value = Number(text)
    to.setFloat64(0, value, true)
    this.summary.setFloat64(MIN, Math.min(this.bound(MIN), value), true)
    this.summary.setFloat64(MAX, Math.max(this.bound(MAX), value), true)
    if (!isSameNumber(value, text)) this.stats.inexactDoubles++
  }

  protected bound(offset: number): number {
    return this.summary.getFloat64(offset, true)
  }
}

/** Decimals as DECIMAL(38,8): 128-bit integers. */
export class DecimalColumn extends FixedColumn<bigint> {
  constructor(
    private readonly column: number,
    rows: number,
    private readonly endian: Endian,
  ) {
    super(rows, DECIMAL_BYTES)
  }

  protected read(calls: KernelCalls, address: RowAddress, row: number, rows: number, to: number, summary: number) {
    const isBig = Number(this.endian === 'big')
    return calls.readDecimals(address.bytes, cellAddress(address, row, this.column), rows, to, summary, isBig)
  }

  protected putLong(batch: KlineBatch, row: number, to: DataView): void {
    const value = parseDecimal(batch.text(row, this.column))
    if (value === undefined) throw tooManyDigits(batch, row, this.column)
    setDecimal(to, 0, value, this.endian)
    if (value < this.bound(MIN)) setDecimal(this.summary, MIN, value)
    if (value > this.bound(MAX)) setDecimal(this.summary, MAX, value)
  }

  protected override clear(): void {
    setDecimal(this.summary, MIN, 2n ** 128n - 1n)
    setDecimal(this.summary, MAX, 0n)
  }

  protected bound(offset: number): bigint {
    const { summary } = this
    return (summary.getBigUint64(offset + 8, true) << 64n) + summary.getBigUint64(offset, true)
  }
}

/** The address of a cell in an index. */
function cellAddress({ offsets }: RowAddress, row: number, column: number): number {
  return offsets + row * OFFSETS_BYTES + 8 * column
}

function setDecimal(view: DataView, offset: number, value: bigint, endian: Endian = 'little'): void {
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
