import { COLUMNS, ROW_LENGTH } from './columns.js'
import { DECIMAL_COLUMNS, decimalText, type RowValues, UNIT } from './row-values.js'

const [HIGH, LOW, CLOSE] = (['high', 'low', 'close'] as const).map(name => COLUMNS.indexOf(name))
const SUMS = DECIMAL_COLUMNS.filter(column => column > CLOSE)
/** Sums above this go on in a BigInt: beyond 2^53 a double would round. */
const MAX_WHOLE = 2 ** 52

/**
 * One candle made of finer ones, exactly as the exchange makes its own (observed.md): open of the first, close and close time
 * of the last, highest high, lowest low, sums of the rest. Candles without a trade do not count, unless none has one.
 */
export class Aggregate {
  /** When it opens, ms UTC. */
  openTime = 0
  closeTime = 0
  count = 0
  /** Candles it was made of, those without a trade included. */
  rows = 0
  ignore = ''
  private traded = false
  private readonly whole = new Float64Array(ROW_LENGTH)
  private readonly fraction = new Float64Array(ROW_LENGTH)
  private readonly digits = new Uint8Array(ROW_LENGTH)
  private readonly beyond = new Map<number, bigint>()

  /** Begins a candle that opens at `openTime`. */
  start(openTime: number): void {
    this.openTime = openTime
    this.rows = 0
    this.traded = false
  }

  /** Adds the next finer candle. */
  add(values: RowValues): void {
    this.rows++
    if (values.count === 0 && this.traded) return
    if (this.rows === 1 || (values.count > 0 && !this.traded)) this.take(values)
    else this.addTo(values)
    this.traded ||= values.count > 0
  }

  /** The columns in which a candle of the exchange differs from this one. */
  differences(values: RowValues): number[] {
    const found = DECIMAL_COLUMNS.filter(
      column =>
        values.whole[column] !== this.whole[column] ||
        values.fraction[column] !== this.fraction[column] ||
        this.beyond.has(column),
    )
    if (values.closeTime !== this.closeTime) found.push(COLUMNS.indexOf('close_time'))
    if (values.count !== this.count) found.push(COLUMNS.indexOf('count'))
    if (values.ignore !== this.ignore) found.push(COLUMNS.indexOf('ignore'))
    return found.sort((a, b) => a - b)
  }

  /** A cell as text; sums with as many decimals as the most precise of what was added. */
  text(column: number): string {
    const name = COLUMNS[column]
    if (name === 'open_time') return String(this.openTime)
    if (name === 'close_time') return String(this.closeTime)
    if (name === 'count') return String(this.count)
    if (name === 'ignore') return this.ignore
    const beyond = this.beyond.get(column)
    const whole = beyond === undefined ? this.whole[column] : beyond + BigInt(this.whole[column])
    return decimalText(whole, this.fraction[column], this.digits[column])
  }

  private take({ closeTime, count, whole, fraction, digits, ignore }: RowValues): void {
    this.closeTime = closeTime
    this.count = count
    this.ignore = ignore
    this.whole.set(whole)
    this.fraction.set(fraction)
    this.digits.set(digits)
    if (this.beyond.size > 0) this.beyond.clear()
  }

  private addTo(values: RowValues): void {
    this.closeTime = values.closeTime
    this.count += values.count
    if (this.compare(values, HIGH) > 0) this.copy(values, HIGH)
    if (this.compare(values, LOW) < 0) this.copy(values, LOW)
    this.copy(values, CLOSE)
    for (let index = 0; index < SUMS.length; index++) this.sum(values, SUMS[index])
  }

  private compare({ whole, fraction }: RowValues, column: number): number {
    return whole[column] - this.whole[column] || fraction[column] - this.fraction[column]
  }

  private copy({ whole, fraction, digits }: RowValues, column: number): void {
    this.whole[column] = whole[column]
    this.fraction[column] = fraction[column]
    this.digits[column] = digits[column]
  }

  private sum({ whole, fraction, digits }: RowValues, column: number): void {
    const total = this.fraction[column] + fraction[column]
    const carry = total >= UNIT ? 1 : 0
    this.fraction[column] = total - carry * UNIT
    this.whole[column] += whole[column] + carry
    if (digits[column] > this.digits[column]) this.digits[column] = digits[column]
    if (this.whole[column] < MAX_WHOLE) return
    this.beyond.set(column, (this.beyond.get(column) ?? 0n) + BigInt(this.whole[column]))
    this.whole[column] = 0
  }
}
