import { COLUMN_KINDS, COLUMNS, type Column } from '../candles/columns.js'
import type { CandleGrid } from './candle-grid.js'
import { firstRowFrom } from './kline-batch.js'
import {
  CANDLE_BYTES,
  CLOSE_TIME,
  COMPARED,
  COUNT,
  DIGITS,
  IGNORE,
  LONG,
  NUMBERS_PER_ROW,
  OPEN_TIME,
  ROWS,
} from './wasm/assembly/layout.js'
import type { IndexedRows, Kernel, RowAddress } from './wasm/kernel.js'

const FIRST_ROWS = 64

/** Indexes of the columns that hold decimals, in their order: open, high, low, close, then the summed ones. */
export const DECIMALS = COLUMNS.map((_, column) => column).filter(column => COLUMN_KINDS[column] === 'decimal')
const IGNORE_COLUMN = COLUMNS.indexOf('ignore')

/** What the values of a candle cannot be at once, as `findFaults` of the kernel counts it. `$name` stands for a value. */
const FAULTS = [
  'low $low is above open $open',
  'low $low is above close $close',
  'open $open is above high $high',
  'close $close is above high $high',
  'taker_buy_volume $taker_buy_volume is above volume $volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is above quote_volume $quote_volume',
  'quote_volume $quote_volume is above high $high x volume $volume',
  'quote_volume $quote_volume is below low $low x volume $volume',
  'quote_volume $quote_volume is traded at low $low x volume $volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is above high $high x taker_buy_volume $taker_buy_volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is below low $low x taker_buy_volume $taker_buy_volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is traded at low $low x taker_buy_volume $taker_buy_volume',
  'count is 0, but high $high is above low $low',
  'count is 0, but volume is $volume',
  'count is 0, but quote_volume is $quote_volume',
]

/**
 * Candles of one series in a kernel's memory. Each decimal is a 128-bit integer in units of 10^-8, or the text of a longer one, so
 * nothing is rounded. `place` is the index of a decimal among the 8 of a candle, `column` that of a cell among the 12. Times are ms UTC.
 */
export class CandleTable {
  length = 0
  private start = 0
  private capacity = 0

  constructor(readonly kernel: Kernel) {}

  address(row: number): number {
    return this.start + row * CANDLE_BYTES
  }

  reserve(rows: number): void {
    const { kernel, start } = this
    if (this.length + rows <= this.capacity) return
    // Memory that is not written to costs nothing; rows that move do.
    this.capacity = Math.max(FIRST_ROWS, 4 * this.capacity, this.length + rows)
    this.start = kernel.allocate(this.capacity * CANDLE_BYTES)
    new Uint8Array(kernel.view.buffer).copyWithin(this.start, start, start + this.length * CANDLE_BYTES)
  }

  add(batch: IndexedRows): void {
    const { kernel } = this
    const rows = batch.numbers.length / NUMBERS_PER_ROW
    const address = kernel.addressOf(batch)
    this.reserve(rows)
    const { bytes, offsets, numbers } = address
    const unnamed = kernel.calls.readCandles(bytes, offsets, numbers, rows, this.address(this.length))
    if (unnamed > 0) this.internTexts(address, rows)
    this.length += rows
  }

  clear(): void {
    this.length = 0
  }

  /** Removes the first rows; the others move to the start. */
  dropFirst(rows: number): void {
    const memory = new Uint8Array(this.kernel.view.buffer)
    memory.copyWithin(this.start, this.address(rows), this.address(this.length))
    this.length -= rows
  }

  /** Adds an empty candle that opens at `openTime`. */
  begin(openTime: number): void {
    this.reserve(1)
    this.kernel.calls.beginCandle(this.address(this.length++), openTime)
  }

  /**
   * Adds rows `start` to `end` (exclusive) of a table of the same kernel to the last candle. The result equals the
   * exchange's own candle, also when the rows are sums themselves.
   */
  addToLast(table: CandleTable, start: number, end: number): void {
    this.kernel.calls.addCandles(this.address(this.length - 1), table.address(start), end - start)
  }

  openTime(row: number): number {
    return this.number(row, OPEN_TIME)
  }

  closeTime(row: number): number {
    return this.number(row, CLOSE_TIME)
  }

  count(row: number): number {
    return this.number(row, COUNT)
  }

  /** The number of candles that a row was made of, with those that have no trade. */
  rows(row: number): number {
    return this.kernel.view.getUint32(this.address(row) + ROWS, true)
  }

  /** A decimal with as many digits after the point as in the source; a sum has as many as its most precise part. */
  decimal(row: number, place: number): string {
    return this.kernel.decimal(this.address(row), place)
  }

  text(row: number, column: number): string {
    const name = COLUMNS[column]
    if (name === 'open_time') return String(this.openTime(row))
    if (name === 'close_time') return String(this.closeTime(row))
    if (name === 'count') return String(this.count(row))
    if (name !== 'ignore') return this.decimal(row, DECIMALS.indexOf(column))
    return this.kernel.texts[this.kernel.view.getUint32(this.address(row) + IGNORE, true)]
  }

  /**
   * The first row from `row` on, before `end`, that does not open at `openTime` or directly after the one before, that is not on the
   * grid, closes early, has no trade or a fault; `end` when there is none. Of months, every row. Times are ms UTC.
   */
  findOdd(row: number, end: number, openTime: number, { step = 0, anchor }: CandleGrid): number {
    return row + this.kernel.calls.findOdd(this.address(row), end - row, openTime, step, anchor)
  }

  /** The faults of a candle, each described with its values; empty for a good one. */
  faults(row: number): string[] {
    const found = this.kernel.calls.findFaults(this.address(row))
    const value = (_: string, name: string) => this.text(row, COLUMNS.indexOf(name as Column))
    return FAULTS.filter((_, bit) => (found >>> bit) & 1).map(text => text.replace(/\$(\w+)/g, value))
  }

  isCompared(row: number): boolean {
    return this.kernel.view.getUint32(this.address(row) + COMPARED, true) === 1
  }

  /** Marks a row as compared with another candle. */
  markCompared(row: number): void {
    this.kernel.view.setUint32(this.address(row) + COMPARED, 1, true)
  }

  /** First row from `row` on that opens at or after `time`, ms UTC; `length` when there is none. */
  rowFrom(time: number, row = 0): number {
    return firstRowFrom(this, time, row)
  }

  private number(row: number, offset: number): number {
    return this.kernel.view.getFloat64(this.address(row) + offset, true)
  }

  /** Interns the long decimals of the rows just read, and the texts at their end. */
  private internTexts(address: RowAddress, rows: number): void {
    const { kernel } = this
    for (let row = 0; row < rows; row++) {
      const candle = this.address(this.length + row)
      for (const [place, column] of DECIMALS.entries()) {
        if (kernel.view.getUint8(candle + DIGITS + place) !== LONG) continue
        kernel.storeLong(candle, place, kernel.text(address, row, column))
      }
      kernel.view.setUint32(candle + IGNORE, kernel.intern(kernel.text(address, row, IGNORE_COLUMN)), true)
    }
  }
}

/** The coarser candles that the first `rows` rows of a table add up to, in the memory of the same kernel. */
export function groupCandles(table: CandleTable, grid: CandleGrid, rows = table.length): CandleTable {
  const coarser = new CandleTable(table.kernel)
  if (rows === 0) return coarser
  const { step, anchor } = grid
  if (step !== undefined) {
    coarser.reserve(Math.floor((table.openTime(rows - 1) - table.openTime(0)) / step) + 2)
    coarser.length = table.kernel.calls.groupCandles(table.address(0), rows, step, anchor, coarser.address(0))
    return coarser
  }
  for (let row = 0; row < rows; ) {
    const startTime = grid.start(table.openTime(row))
    const next = Math.min(table.rowFrom(grid.end(startTime), row), rows)
    coarser.begin(startTime)
    coarser.addToLast(table, row, next)
    row = next
  }
  return coarser
}
