import { isSameNumber, parseDecimal } from '../../klines/batch/decimals.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { COLUMNS } from '../../klines/columns.js'
import { KlinesError } from '../../klines/errors.js'
import { seriesName } from '../../klines/series.js'
import type { BatchRows, FixedColumn } from './columns.js'
import type { ExportStats } from './exporter.js'
import { releaseBuffer, takeBuffer } from './spare-buffers.js'

const WORD = 2 ** 32
export const WORDS_PER_DECIMAL = 4
/** One unit before the point in units of 10^-8. */
const UNIT = 1e8
/** Below this many units a double has room for every digit, and a division by `UNIT` is rounded correctly. */
const EXACT_UNITS = 2 ** 52

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
export class DoubleColumn implements FixedColumn<Float64Array> {
  private readonly doubles: Float64Array<ArrayBuffer>

  constructor(
    private readonly column: number,
    rows: number,
    private readonly stats: ExportStats,
  ) {
    this.doubles = new Float64Array(takeBuffer(8 * rows))
  }

  append(rows: BatchRows, start: number, end: number, to: number): void {
    const { doubles, column, stats } = this
    const putLong = (row: number) => {
      const text = rows.batch.text(row, column)
      const value = Number(text)
      doubles[to + row - start] = value
      if (!isSameNumber(value, text)) stats.inexactDoubles++
    }
    const put: PutDecimal = (row, words, index) => {
      const units = words[index + 1] * WORD + words[index]
      if (units >= EXACT_UNITS || words[index + 2] > 0 || words[index + 3] > 0) putLong(row)
      else doubles[to + row - start] = units / UNIT
    }
    readDecimals(rows, column, [start, end], put, putLong)
  }

  values(length: number): Float64Array {
    return this.doubles.subarray(0, length)
  }

  release(): void {
    releaseBuffer(this.doubles.buffer)
  }
}

/** Decimals as DECIMAL(38,8): 128-bit integers. */
export class DecimalColumn implements FixedColumn<Uint32Array> {
  private readonly words: Uint32Array<ArrayBuffer>

  constructor(
    private readonly column: number,
    rows: number,
  ) {
    this.words = new Uint32Array(takeBuffer(4 * WORDS_PER_DECIMAL * rows))
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

  values(length: number): Uint32Array {
    return this.words.subarray(0, WORDS_PER_DECIMAL * length)
  }

  release(): void {
    releaseBuffer(this.words.buffer)
  }
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
