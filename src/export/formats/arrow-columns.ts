import { type Data, type DataType, makeData } from 'apache-arrow'
import { WORDS_PER_DECIMAL, writeDecimal128, writeDouble } from '../../klines/batch/decimals.js'
import { type KlineBatch, NUMBERS_PER_ROW, OFFSETS_PER_ROW } from '../../klines/batch/kline-batch.js'
import { COLUMNS } from '../../klines/columns.js'
import { KlinesError } from '../../klines/errors.js'
import { seriesName } from '../../klines/series.js'
import type { SeriesColumn } from '../row-format.js'
import type { ExportStats } from './exporter.js'

/** One column of a record batch being filled. Its buffers are made once and used for every record batch. */
export interface ArrowColumn {
  /** Takes rows `start` to `end` of a batch in at position `at`. */
  append(batch: KlineBatch, start: number, end: number, at: number): void
  /** The first `length` values as Arrow holds them. */
  data(type: DataType, length: number): Data
}

const WORD = 2 ** 32

/** One of the three integers of a row as INT64, `number` being its index. */
export class IntegerColumn implements ArrowColumn {
  private readonly words: Uint32Array

  constructor(
    private readonly number: number,
    rows: number,
  ) {
    this.words = new Uint32Array(2 * rows)
  }

  append(batch: KlineBatch, start: number, end: number, at: number): void {
    const { words } = this
    const { numbers } = batch
    for (let row = start; row < end; row++) {
      const value = numbers[row * NUMBERS_PER_ROW + this.number]
      const word = 2 * (at + row - start)
      // Two's complement by halves: a BigInt a value would cost several times as much.
      const high = Math.floor(value / WORD)
      words[word] = value - high * WORD
      words[word + 1] = high
    }
  }

  data(type: DataType, length: number): Data {
    return makeData({
      type,
      length,
      nullCount: 0,
      data: new BigInt64Array(this.words.buffer, 0, length),
    } as never)
  }
}

/** A decimal as the nearest double; those that lose digits are counted. */
export class DoubleColumn implements ArrowColumn {
  private readonly values: Float64Array

  constructor(
    private readonly column: number,
    rows: number,
    private readonly notes: ExportStats,
  ) {
    this.values = new Float64Array(rows)
  }

  append({ bytes, offsets }: KlineBatch, start: number, end: number, at: number): void {
    const { values } = this
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      if (!writeDouble(bytes, offsets[cell], offsets[cell + 1], values, at + row - start)) this.notes.inexactDoubles++
    }
  }

  data(type: DataType, length: number): Data {
    return makeData({
      type,
      length,
      nullCount: 0,
      data: this.values.subarray(0, length),
    } as never)
  }
}

/** A decimal as DECIMAL(38,8): four little-endian words a value. */
export class DecimalColumn implements ArrowColumn {
  private readonly words: Uint32Array

  constructor(
    private readonly column: number,
    rows: number,
  ) {
    this.words = new Uint32Array(WORDS_PER_DECIMAL * rows)
  }

  append(batch: KlineBatch, start: number, end: number, at: number): void {
    const { bytes, offsets } = batch
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      const word = WORDS_PER_DECIMAL * (at + row - start)
      if (!writeDecimal128(bytes, offsets[cell], offsets[cell + 1], this.words, word)) this.refuse(batch, row)
    }
  }

  data(type: DataType, length: number): Data {
    return makeData({
      type,
      length,
      nullCount: 0,
      data: this.words.subarray(0, WORDS_PER_DECIMAL * length),
    } as never)
  }

  private refuse(batch: KlineBatch, row: number): never {
    const [name, time] = [seriesName(batch.series), new Date(batch.openTime(row)).toISOString()]
    const value = batch.text(row, this.column).slice(0, 60)
    throw new KlinesError(
      'digits_lost',
      `${name} ${time}: ${COLUMNS[this.column]} ${value} does not fit DECIMAL(38,8): at most 30 digits before the point and 8 after it.`,
      {
        suggestions: ['Use --numbers text, which keeps every digit.'],
      },
    )
  }
}

/** Text of any length, as Arrow's UTF-8: offsets and bytes. */
abstract class Utf8Column implements ArrowColumn {
  private readonly ends: Int32Array
  private text: Buffer

  constructor(rows: number) {
    this.ends = new Int32Array(rows + 1)
    this.text = Buffer.allocUnsafeSlow(24 * rows)
  }

  abstract append(batch: KlineBatch, start: number, end: number, at: number): void

  data(type: DataType, length: number): Data {
    const valueOffsets = this.ends.subarray(0, length + 1)
    return makeData({
      type,
      length,
      nullCount: 0,
      valueOffsets,
      data: this.text.subarray(0, this.ends[length]),
    } as never)
  }

  /** Puts `bytes[start, end)` at position `at`; positions come in order. */
  protected put(bytes: Uint8Array, start: number, end: number, at: number): void {
    const from = this.ends[at]
    const to = from + end - start
    if (to > this.text.length) {
      const larger = Buffer.allocUnsafeSlow(2 * to)
      this.text.copy(larger, 0, 0, from)
      this.text = larger
    }
    for (let i = 0; i < end - start; i++) this.text[from + i] = bytes[start + i]
    this.ends[at + 1] = to
  }
}

/** A cell's text as the source has it. */
export class TextColumn extends Utf8Column {
  constructor(
    private readonly column: number,
    rows: number,
  ) {
    super(rows)
  }

  append({ bytes, offsets }: KlineBatch, start: number, end: number, at: number): void {
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      this.put(bytes, offsets[cell], offsets[cell + 1], at + row - start)
    }
  }
}

/** The symbol or interval a row belongs to. */
export class SeriesNameColumn extends Utf8Column {
  constructor(
    private readonly name: SeriesColumn,
    rows: number,
  ) {
    super(rows)
  }

  append({ series }: KlineBatch, start: number, end: number, at: number): void {
    const name = Buffer.from(series[this.name])
    for (let row = start; row < end; row++) this.put(name, 0, name.length, at + row - start)
  }
}
