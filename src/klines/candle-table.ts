import { COLUMN_KINDS, COLUMNS } from './columns.js'
import { KlinesError } from './errors.js'
import { type KlineBatch, NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './kline-batch.js'

const DOT = 0x2e
const ZERO = 0x30

/** Digits after the point that values are scaled by. */
export const SCALE = 8
/** One unit before the point, in units after it. */
export const UNIT = 10 ** SCALE
/** Integers that a double holds exactly, and some room to add them up. */
const MAX_WHOLE = 10 ** 15

/** Indexes of the columns that hold decimals, in their order: open, high, low, close, then what is summed. */
export const DECIMALS = COLUMNS.map((_, column) => column).filter(column => COLUMN_KINDS[column] === 'decimal')
/** Decimals of a row. */
export const WIDTH = DECIMALS.length
const IGNORE = COLUMNS.indexOf('ignore')
const FIRST_ROWS = 1024

/**
 * Values of candles, exact, column after column of a row side by side: each decimal as a whole part and a fraction in units of
 * 10^-8, both integers, so that no digit goes through a rounding. What is compared and added up is read into this once.
 */
export class CandleTable {
  length = 0
  openTimes = new Float64Array(FIRST_ROWS)
  closeTimes = new Float64Array(FIRST_ROWS)
  counts = new Float64Array(FIRST_ROWS)
  /** 8 a row, below 10^15. */
  whole = new Float64Array(FIRST_ROWS * WIDTH)
  /** 8 a row, below 10^8. */
  fraction = new Uint32Array(FIRST_ROWS * WIDTH)
  /** 8 a row: digits after the point as written, 8 at the most. */
  digits = new Uint8Array(FIRST_ROWS * WIDTH)
  /** The unused text at the end, where it is not `0`, by row. */
  private readonly oddEnds = new Map<number, string>()

  /** Adds the rows of a batch. Throws `digits_lost` at a decimal of more than 8 digits after the point or 15 before it. */
  add(batch: KlineBatch): void {
    const { bytes, offsets, numbers, length } = batch
    this.reserve(length)
    const text = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const { openTimes, closeTimes, counts } = this
    for (let row = 0; row < length; row++) {
      const index = this.length++
      openTimes[index] = numbers[row * NUMBERS_PER_ROW]
      closeTimes[index] = numbers[row * NUMBERS_PER_ROW + 1]
      counts[index] = numbers[row * NUMBERS_PER_ROW + 2]
      const first = row * OFFSETS_PER_ROW
      for (let place = 0; place < WIDTH; place++) {
        const at = first + 2 * DECIMALS[place]
        if (!readDecimal(text, offsets[at], offsets[at + 1], this, index * WIDTH + place)) {
          throw tooLong(batch, row, DECIMALS[place])
        }
      }
      const at = first + 2 * IGNORE
      if (offsets[at + 1] - offsets[at] !== 1 || bytes[offsets[at]] !== ZERO) {
        this.oddEnds.set(index, batch.text(row, IGNORE))
      }
    }
  }

  /** Empties the table; it keeps its room. */
  clear(): void {
    this.length = 0
    if (this.oddEnds.size > 0) this.oddEnds.clear()
  }

  /** The unused text at the end of a row. */
  ignore(row: number): string {
    return this.oddEnds.size === 0 ? '0' : (this.oddEnds.get(row) ?? '0')
  }

  /** A decimal of a row with its digits as written. */
  decimal(row: number, place: number): string {
    const at = row * WIDTH + place
    return decimalText(this.whole[at], this.fraction[at], this.digits[at])
  }

  private reserve(rows: number): void {
    const { openTimes, closeTimes, counts, whole, fraction, digits } = this
    if (this.length + rows <= openTimes.length) return
    const room = Math.max(2 * openTimes.length, this.length + rows)
    const grow = <T extends Float64Array | Uint32Array | Uint8Array>(bigger: T, old: T): T => {
      bigger.set(old)
      return bigger
    }
    this.openTimes = grow(new Float64Array(room), openTimes)
    this.closeTimes = grow(new Float64Array(room), closeTimes)
    this.counts = grow(new Float64Array(room), counts)
    this.whole = grow(new Float64Array(room * WIDTH), whole)
    this.fraction = grow(new Uint32Array(room * WIDTH), fraction)
    this.digits = grow(new Uint8Array(room * WIDTH), digits)
  }
}

/** Puts the decimal at `[start, end)` into a table's place `at`; false when it is too long. */
function readDecimal(text: DataView, start: number, end: number, table: CandleTable, at: number): boolean {
  let whole = 0
  let next = start
  for (; next < end; next++) {
    const byte = text.getUint8(next)
    if (byte === DOT) break
    whole = whole * 10 + (byte - ZERO)
  }
  if (whole >= MAX_WHOLE) return false
  table.whole[at] = whole
  const digits = Math.max(0, end - next - 1)
  // As the service writes all of them.
  if (digits === SCALE) {
    table.fraction[at] = fourDigits(text, next + 1) * 10_000 + fourDigits(text, next + 5)
    table.digits[at] = SCALE
    return true
  }
  let fraction = 0
  for (let place = 1; place <= SCALE; place++) {
    fraction = fraction * 10 + (place <= digits ? text.getUint8(next + place) - ZERO : 0)
  }
  // Zeros beyond say nothing.
  for (let place = SCALE + 1; place <= digits; place++) if (text.getUint8(next + place) !== ZERO) return false
  table.fraction[at] = fraction
  table.digits[at] = Math.min(SCALE, digits)
  return true
}

/** The number that four digits write: pairs of them first, both at once. */
function fourDigits(text: DataView, at: number): number {
  const digits = text.getInt32(at, true) - 0x30303030
  const pairs = Math.imul(digits, 10) + (digits >>> 8)
  return (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff)
}

/** A decimal of `digits` digits after the point. */
export function decimalText(whole: number | bigint, fraction: number, digits: number): string {
  if (digits === 0) return String(whole)
  return `${whole}.${String(fraction).padStart(SCALE, '0').slice(0, digits)}`
}

function tooLong(batch: KlineBatch, row: number, column: number): KlinesError {
  const { symbol, interval } = batch.series
  const at = `${symbol} ${interval} ${new Date(batch.openTime(row)).toISOString()}`
  return new KlinesError(
    'digits_lost',
    `${at}: ${COLUMNS[column]} is ${batch.text(row, column)}, longer than what can be added up exactly: 15 digits before the point and 8 after it.`,
  )
}
