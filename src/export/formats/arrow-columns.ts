import { type Data, type DataType, makeData } from 'apache-arrow'
import { isSameNumber, parseDecimal } from '../../klines/batch/decimals.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { COLUMNS } from '../../klines/columns.js'
import { KlinesError } from '../../klines/errors.js'
import { NUMBERS_PER_ROW, OFFSETS_PER_ROW } from '../../klines/kernel/assembly/layout.js'
import { type Kernel, type RowAddress, sharedKernel } from '../../klines/kernel/kernel.js'
import { seriesName } from '../../klines/series.js'
import type { SeriesColumn } from '../row-format.js'
import type { ExportStats } from './exporter.js'

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
const WORDS_PER_DECIMAL = 4
/** One unit before the point in units of 10^-8. */
const UNIT = 1e8
/** Below this many units a double has room for every digit, and a division by `UNIT` is rounded correctly. */
const EXACT_UNITS = 2 ** 52

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

/** Takes a decimal as four little-endian words at `index` of `words`, in units of 10^-8. */
type PutDecimal = (row: number, words: Uint32Array, index: number) => void

/** Reads the decimals of a column in the kernel. Those that are too long for it go to `putLong`. */
function readDecimals(
  { kernel, address }: BatchRows,
  column: number,
  [start, end]: readonly [number, number],
  put: PutDecimal,
  putLong: (row: number) => void,
): void {
  for (let row = start; row < end; ) {
    const words = kernel.readDecimals(address, row, end, column)
    for (let index = 0; index < words.length; index += WORDS_PER_DECIMAL) put(row++, words, index)
    if (words.length === 0) putLong(row++)
  }
}

/** Decimals as the nearest doubles; those that lose digits are counted. */
export class DoubleColumn implements ArrowColumn {
  private readonly values: Float64Array

  constructor(
    private readonly column: number,
    rows: number,
    private readonly stats: ExportStats,
  ) {
    this.values = new Float64Array(rows)
  }

  append(rows: BatchRows, start: number, end: number, to: number): void {
    const { values, column, stats } = this
    const putLong = (row: number) => {
      const text = rows.batch.text(row, column)
      const value = Number(text)
      values[to + row - start] = value
      if (!isSameNumber(value, text)) stats.inexactDoubles++
    }
    const put: PutDecimal = (row, words, index) => {
      const units = words[index + 1] * WORD + words[index]
      if (units >= EXACT_UNITS || words[index + 2] > 0 || words[index + 3] > 0) putLong(row)
      else values[to + row - start] = units / UNIT
    }
    readDecimals(rows, column, [start, end], put, putLong)
  }

  data(type: DataType, length: number): Data {
    return toData(type, length, { data: this.values.subarray(0, length) })
  }
}

/** Decimals as DECIMAL(38,8): 128-bit integers. */
export class DecimalColumn implements ArrowColumn {
  private readonly words: Uint32Array

  constructor(
    private readonly column: number,
    rows: number,
  ) {
    this.words = new Uint32Array(WORDS_PER_DECIMAL * rows)
  }

  append(rows: BatchRows, start: number, end: number, to: number): void {
    const { words, column } = this
    const put: PutDecimal = (row, from, index) => {
      const word = WORDS_PER_DECIMAL * (to + row - start)
      for (let i = 0; i < WORDS_PER_DECIMAL; i++) words[word + i] = from[index + i]
    }
    const putLong = (row: number) => {
      let rest = parseDecimal(rows.batch.text(row, column))
      if (rest === undefined) throw tooManyDigits(rows.batch, row, column)
      const word = WORDS_PER_DECIMAL * (to + row - start)
      for (let i = 0; i < WORDS_PER_DECIMAL; i++, rest >>= 32n) words[word + i] = Number(rest & 0xffffffffn)
    }
    readDecimals(rows, column, [start, end], put, putLong)
  }

  data(type: DataType, length: number): Data {
    return toData(type, length, { data: this.words.subarray(0, WORDS_PER_DECIMAL * length) })
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

function toData(type: DataType, length: number, buffers: object): Data {
  return makeData({ type, length, nullCount: 0, ...buffers } as never)
}

function tooManyDigits(batch: KlineBatch, row: number, column: number): KlinesError {
  const [name, time] = [seriesName(batch.series), new Date(batch.openTime(row)).toISOString()]
  const value = batch.text(row, column).slice(0, 60)
  return new KlinesError(
    'digits_lost',
    `${name} ${time}: ${COLUMNS[column]} ${value} does not fit DECIMAL(38,8): at most 30 digits before the point and 8 after it.`,
    { suggestions: ["Use `numbers: 'text'`, which keeps every digit."] },
  )
}
