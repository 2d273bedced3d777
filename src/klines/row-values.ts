import { COLUMN_KINDS, COLUMNS, ROW_LENGTH } from './columns.js'
import { KlinesError } from './errors.js'
import { type KlineBatch, NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './kline-batch.js'

const DOT = 0x2e
const ZERO = 0x30

/** Digits after the point that values are scaled by. */
export const SCALE = 8
/** One unit before the point, in units after it. */
export const UNIT = 10 ** SCALE
/** Digits before the point that a double holds exactly. */
const MAX_WHOLE_DIGITS = 15

/** The columns that hold decimals. */
export const DECIMAL_COLUMNS = COLUMNS.map((_, index) => index).filter(index => COLUMN_KINDS[index] === 'decimal')

/**
 * The values of one row, exact: each decimal as a whole part and a fraction in units of 10^-8, both integers in doubles, so
 * that no digit goes through a rounding. Read anew for every row.
 */
export class RowValues {
  openTime = 0
  closeTime = 0
  count = 0
  /** Integers below 10^15, by column. */
  readonly whole = new Float64Array(ROW_LENGTH)
  /** Integers below 10^8, by column. */
  readonly fraction = new Float64Array(ROW_LENGTH)
  /** Digits after the point as written, by column; 8 at the most. */
  readonly digits = new Uint8Array(ROW_LENGTH)
  /** The unused text at the end. */
  ignore = ''

  /** Throws `digits_lost` at a decimal of more than 8 digits after the point or 15 before it. */
  read(batch: KlineBatch, row: number): void {
    const { bytes, offsets, numbers } = batch
    this.openTime = numbers[row * NUMBERS_PER_ROW]
    this.closeTime = numbers[row * NUMBERS_PER_ROW + 1]
    this.count = numbers[row * NUMBERS_PER_ROW + 2]
    const first = row * OFFSETS_PER_ROW
    for (let index = 0; index < DECIMAL_COLUMNS.length; index++) {
      const column = DECIMAL_COLUMNS[index]
      if (!this.readDecimal(bytes, offsets[first + 2 * column], offsets[first + 2 * column + 1], column)) {
        throw tooLong(batch, row, column)
      }
    }
    this.ignore = ignoreText(batch, row)
  }

  /** Whether the decimal at `bytes[start, end)` is one that this can hold. */
  private readDecimal(bytes: Uint8Array, start: number, end: number, column: number): boolean {
    let whole = 0
    let at = start
    for (; at < end && bytes[at] !== DOT; at++) whole = whole * 10 + (bytes[at] - ZERO)
    if (at - start > MAX_WHOLE_DIGITS && whole >= 10 ** MAX_WHOLE_DIGITS) return false
    let fraction = 0
    let digits = 0
    for (at++; at < end; at++) {
      if (digits === SCALE) {
        // Zeros beyond say nothing.
        if (bytes[at] !== ZERO) return false
        continue
      }
      fraction = fraction * 10 + (bytes[at] - ZERO)
      digits++
    }
    this.whole[column] = whole
    this.fraction[column] = digits === SCALE ? fraction : fraction * 10 ** (SCALE - digits)
    this.digits[column] = digits
    return true
  }
}

/** A decimal of `digits` digits after the point. */
export function decimalText(whole: number | bigint, fraction: number, digits: number): string {
  if (digits === 0) return String(whole)
  return `${whole}.${String(fraction).padStart(SCALE, '0').slice(0, digits)}`
}

const IGNORE = COLUMNS.indexOf('ignore')

/** It is `0` in every real candle. */
function ignoreText(batch: KlineBatch, row: number): string {
  const at = row * OFFSETS_PER_ROW + 2 * IGNORE
  const [start, end] = [batch.offsets[at], batch.offsets[at + 1]]
  return end - start === 1 && batch.bytes[start] === ZERO ? '0' : batch.text(row, IGNORE)
}

function tooLong(batch: KlineBatch, row: number, column: number): KlinesError {
  const { symbol, interval } = batch.series
  const at = `${symbol} ${interval} ${new Date(batch.openTime(row)).toISOString()}`
  return new KlinesError(
    'digits_lost',
    `${at}: ${COLUMNS[column]} is ${batch.text(row, column)}, longer than what can be added up exactly: 15 digits before the point and 8 after it.`,
  )
}
