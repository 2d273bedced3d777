import { type CandleTable, DECIMALS, decimalText, UNIT, WIDTH } from './candle-table.js'
import { COLUMNS } from './columns.js'

/** Places among the decimals of a row. */
const [HIGH, LOW, CLOSE] = [1, 2, 3]
const CLOSE_TIME = COLUMNS.indexOf('close_time')
const COUNT = COLUMNS.indexOf('count')
const IGNORE = COLUMNS.indexOf('ignore')
/** Sums above this go on in a BigInt: beyond 2^53 a double would round. */
const MAX_WHOLE = 2 ** 52

/** The decimals of a candle: those of a table, or of what was made of it. */
type Cells = Pick<CandleTable, 'whole' | 'fraction' | 'digits'>

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
  private ignore = '0'
  private traded = false
  readonly whole = new Float64Array(WIDTH)
  readonly fraction = new Uint32Array(WIDTH)
  readonly digits = new Uint8Array(WIDTH)
  private readonly beyond = new Map<number, bigint>()

  /** Begins a candle that opens at `openTime`. */
  start(openTime: number): void {
    this.openTime = openTime
    this.rows = 0
    this.traded = false
  }

  /** Adds the next finer candle. */
  add(table: CandleTable, row: number): void {
    const hasTrades = table.counts[row] > 0
    if (this.rows++ === 0 || (hasTrades && !this.traded)) this.take(table, row)
    else if (hasTrades || !this.traded) this.addTo(table, row)
    if (hasTrades) this.traded = true
  }

  /** Adds another one, made of the candles that follow: the same as adding these. */
  merge(other: Aggregate): void {
    if (other.rows === 0) return
    const isFirst = this.rows === 0 || (other.traded && !this.traded)
    this.rows += other.rows
    if (!isFirst && this.traded && !other.traded) return
    this.closeTime = other.closeTime
    if (isFirst) {
      this.count = other.count
      this.ignore = other.ignore
      for (let place = 0; place < WIDTH; place++) this.copy(other, 0, place)
      if (this.beyond.size > 0) this.beyond.clear()
    } else {
      this.count += other.count
      this.addPlaces(other, 0)
    }
    if (other.beyond.size > 0) {
      for (const [place, sum] of other.beyond) this.beyond.set(place, (this.beyond.get(place) ?? 0n) + sum)
    }
    this.traded = other.traded
  }

  /** Whether a candle of the exchange is this one, but for its open time. */
  equals(table: CandleTable, row: number): boolean {
    const { whole, fraction } = table
    const first = row * WIDTH
    for (let place = 0; place < WIDTH; place++) {
      if (whole[first + place] !== this.whole[place] || fraction[first + place] !== this.fraction[place]) return false
    }
    const isSame = table.closeTimes[row] === this.closeTime && table.counts[row] === this.count
    return isSame && this.beyond.size === 0 && table.ignore(row) === this.ignore
  }

  /** The columns in which it is not. */
  differences(table: CandleTable, row: number): number[] {
    const found: number[] = []
    const first = row * WIDTH
    for (let place = 0; place < WIDTH; place++) {
      const isSame =
        table.whole[first + place] === this.whole[place] && table.fraction[first + place] === this.fraction[place]
      if (!isSame || this.beyond.has(place)) found.push(DECIMALS[place])
    }
    if (table.closeTimes[row] !== this.closeTime) found.push(CLOSE_TIME)
    if (table.counts[row] !== this.count) found.push(COUNT)
    if (table.ignore(row) !== this.ignore) found.push(IGNORE)
    return found
  }

  /** A cell as text; sums with as many decimals as the most precise of what was added. */
  text(column: number): string {
    const name = COLUMNS[column]
    if (name === 'open_time') return String(this.openTime)
    if (name === 'close_time') return String(this.closeTime)
    if (name === 'count') return String(this.count)
    if (name === 'ignore') return this.ignore
    const place = DECIMALS.indexOf(column)
    const beyond = this.beyond.get(place)
    const whole = beyond === undefined ? this.whole[place] : beyond + BigInt(this.whole[place])
    return decimalText(whole, this.fraction[place], this.digits[place])
  }

  private take(table: CandleTable, row: number): void {
    this.closeTime = table.closeTimes[row]
    this.count = table.counts[row]
    this.ignore = table.ignore(row)
    for (let place = 0; place < WIDTH; place++) this.copy(table, row * WIDTH, place)
    if (this.beyond.size > 0) this.beyond.clear()
  }

  private addTo(table: CandleTable, row: number): void {
    const first = row * WIDTH
    this.closeTime = table.closeTimes[row]
    this.count += table.counts[row]
    this.addPlaces(table, first)
  }

  private addPlaces(cells: Cells, first: number): void {
    if (this.compare(cells, first, HIGH) > 0) this.copy(cells, first, HIGH)
    if (this.compare(cells, first, LOW) < 0) this.copy(cells, first, LOW)
    this.copy(cells, first, CLOSE)
    for (let place = CLOSE + 1; place < WIDTH; place++) this.sum(cells, first, place)
  }

  private compare({ whole, fraction }: Cells, first: number, place: number): number {
    return whole[first + place] - this.whole[place] || fraction[first + place] - this.fraction[place]
  }

  private copy({ whole, fraction, digits }: Cells, first: number, place: number): void {
    this.whole[place] = whole[first + place]
    this.fraction[place] = fraction[first + place]
    this.digits[place] = digits[first + place]
  }

  private sum({ whole, fraction, digits }: Cells, first: number, place: number): void {
    const total = this.fraction[place] + fraction[first + place]
    const carry = total >= UNIT ? 1 : 0
    this.fraction[place] = total - carry * UNIT
    this.whole[place] += whole[first + place] + carry
    if (digits[first + place] > this.digits[place]) this.digits[place] = digits[first + place]
    if (this.whole[place] >= MAX_WHOLE) this.spill(place)
  }

  private spill(place: number): void {
    this.beyond.set(place, (this.beyond.get(place) ?? 0n) + BigInt(this.whole[place]))
    this.whole[place] = 0
  }
}
