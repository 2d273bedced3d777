import type { KlineBatch } from '../batch/kline-batch.js'
import { COLUMN_KINDS, COLUMNS } from '../columns.js'
import { KlinesError } from '../errors.js'
import {
  CANDLE_BYTES,
  CLOSE_TIME,
  COUNT,
  DECIMAL_BYTES,
  DECIMALS as DECIMALS_AT,
  DIGITS,
  IGNORE,
  NUMBERS_BYTES,
  OPEN_TIME,
  ROWS,
  NOT_INTERNED,
} from './assembly/layout.js'
import type { Kernel, RowAddress } from './kernel.js'

/** Digits after the point that values are scaled by. */
const SCALE = 8
/** One unit before the point, in units after it. */
const UNIT = 10 ** SCALE
const WORD = 2 ** 32
/** What can be read exactly: 15 digits before the point and 8 after it, and zeros. */
const READABLE = /^0*\d{1,15}(\.\d{0,8}0*)?$/

/** Indexes of the columns that hold decimals, in their order: open, high, low, close, then what is summed. */
export const DECIMALS = COLUMNS.map((_, column) => column).filter(column => COLUMN_KINDS[column] === 'decimal')
const IGNORE_COLUMN = COLUMNS.indexOf('ignore')
const FIRST_ROWS = 64

/**
 * Candles of one series in a kernel's memory, each decimal a whole number of units of 10^-8 in 128 bits, so that no digit goes
 * through a rounding. What is compared and added up is read into this once. `place` is a decimal's among the 8 of a candle.
 */
export class CandleTable {
  length = 0
  private at = 0
  private room = 0

  constructor(readonly kernel: Kernel) {}

  /** Where a row lies. */
  address(row: number): number {
    return this.at + row * CANDLE_BYTES
  }

  /** Room for so many rows more. */
  reserve(rows: number): void {
    const { kernel, at } = this
    if (this.length + rows <= this.room) return
    this.room = Math.max(FIRST_ROWS, 2 * this.room, this.length + rows)
    this.at = kernel.allocate(this.room * CANDLE_BYTES)
    new Uint8Array(kernel.view.buffer).copyWithin(this.at, at, at + this.length * CANDLE_BYTES)
  }

  /** Adds the rows of a batch. Throws `digits_lost` at a decimal of more than 15 digits before the point or 8 after it. */
  add(batch: KlineBatch): void {
    const { kernel } = this
    const { length } = batch
    const rows = kernel.addressOf(batch)
    this.reserve(length)
    const unnamed = kernel.calls.readCandles(rows.bytes, rows.offsets, rows.numbers, length, this.address(this.length))
    if (unnamed < 0) throw tooLong(batch, kernel, rows, -1 - unnamed)
    if (unnamed > 0) this.name(rows, length)
    this.length += length
  }

  /** Empties the table; it keeps its room. */
  clear(): void {
    this.length = 0
  }

  /** Adds a candle that opens at `openTime`, ms UTC, and is made of nothing yet. */
  begin(openTime: number): void {
    this.reserve(1)
    this.kernel.calls.beginCandle(this.address(this.length++), openTime)
  }

  /**
   * Adds rows `start` to `end` (exclusive) of a table of the same kernel to the last candle, exactly as the exchange makes its
   * own (observed.md). Sums of sums are the same sums.
   */
  addToLast(table: CandleTable, start: number, end: number): void {
    this.kernel.calls.addCandles(this.address(this.length - 1), table.address(start), end - start)
  }

  openTime(row: number): number {
    return this.double(row, OPEN_TIME)
  }

  closeTime(row: number): number {
    return this.double(row, CLOSE_TIME)
  }

  /** Trades. */
  count(row: number): number {
    return this.double(row, COUNT)
  }

  /** How many candles a row is made of, those without a trade included. */
  rows(row: number): number {
    return this.kernel.view.getUint32(this.address(row) + ROWS, true)
  }

  /** The unused text at the end of a row. */
  ignore(row: number): string {
    return this.kernel.internedText(this.kernel.view.getUint32(this.address(row) + IGNORE, true))
  }

  /** A decimal in units of 10^-8. */
  amount(row: number, place: number): bigint {
    const { view } = this.kernel
    const at = this.address(row) + DECIMALS_AT + place * DECIMAL_BYTES
    return (view.getBigUint64(at + 8, true) << 64n) + view.getBigUint64(at, true)
  }

  /** A decimal with its digits as written; sums with as many as the most precise of what was added. */
  decimal(row: number, place: number): string {
    const { view } = this.kernel
    const address = this.address(row)
    const digits = view.getUint8(address + DIGITS + place)
    const at = address + DECIMALS_AT + place * DECIMAL_BYTES
    const [low, high] = [view.getUint32(at, true), view.getUint32(at + 4, true)]
    const value = high * WORD + low
    // A BigInt takes several times as long, and is seldom needed: beyond 2^53, 90 million before the point.
    if (value > Number.MAX_SAFE_INTEGER || view.getBigUint64(at + 8, true) > 0n) {
      const amount = this.amount(row, place)
      return decimalText(amount / BigInt(UNIT), Number(amount % BigInt(UNIT)), digits)
    }
    const whole = Math.floor(value / UNIT)
    return decimalText(whole, value - whole * UNIT, digits)
  }

  /** A cell as text. `column` is its index, 0 to 11. */
  text(row: number, column: number): string {
    const name = COLUMNS[column]
    if (name === 'open_time') return String(this.openTime(row))
    if (name === 'close_time') return String(this.closeTime(row))
    if (name === 'count') return String(this.count(row))
    return name === 'ignore' ? this.ignore(row) : this.decimal(row, DECIMALS.indexOf(column))
  }

  /** First row from `row` on that opens at or after `time`, ms UTC; `length` when there is none. */
  rowFrom(time: number, row = 0): number {
    let [low, high] = [row, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.openTime(middle) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  private double(row: number, part: number): number {
    return this.kernel.view.getFloat64(this.address(row) + part, true)
  }

  /** Names the texts at the end of rows just read that are not `0`. */
  private name(rows: RowAddress, length: number): void {
    const { kernel } = this
    for (let row = 0; row < length; row++) {
      const at = this.address(this.length + row) + IGNORE
      if (kernel.view.getUint32(at, true) !== NOT_INTERNED) continue
      kernel.view.setUint32(at, kernel.intern(kernel.text(rows, row, IGNORE_COLUMN)), true)
    }
  }
}

function decimalText(whole: number | bigint, fraction: number, digits: number): string {
  if (digits === 0) return String(whole)
  return `${whole}.${String(fraction).padStart(SCALE, '0').slice(0, digits)}`
}

function tooLong({ series }: KlineBatch, kernel: Kernel, rows: RowAddress, row: number): KlinesError {
  const openTime = new Date(kernel.view.getFloat64(rows.numbers + row * NUMBERS_BYTES, true)).toISOString()
  const column = DECIMALS.find(one => !READABLE.test(kernel.text(rows, row, one))) ?? DECIMALS[0]
  return new KlinesError(
    'digits_lost',
    `${series.symbol} ${series.interval} ${openTime}: ${COLUMNS[column]} is ${kernel.text(rows, row, column)}, longer than what can be added up exactly: 15 digits before the point and 8 after it.`,
  )
}
