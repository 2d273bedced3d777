import { type KlineRow, ROW_LENGTH } from '../columns.js'
import type { SeriesLabel } from '../series.js'

/** Numbers kept for each row: open time, close time (ms UTC), count. */
export const NUMBERS_PER_ROW = 3
/** Offsets kept for each row: start and end of each cell. */
export const OFFSETS_PER_ROW = 2 * ROW_LENGTH

/** Keeps a byte order mark: at the start of a cell it is part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Rows of one series as bytes plus the place of every cell: what flows from a window file to an exporter. No decimal
 * is ever a float and no row an object on the way. A slice shares bytes and index with what it was cut from.
 */
export class KlineBatch {
  constructor(
    readonly series: SeriesLabel,
    /** The bytes the offsets point into. */
    readonly bytes: Uint8Array,
    /** 24 a row: start and end (exclusive) of each of the 12 cells, quotes left out. */
    readonly offsets: Uint32Array,
    /** 3 a row: open time, close time (ms UTC), count of trades. */
    readonly numbers: Float64Array,
    /** Whether every cell is made of `[A-Za-z0-9._-]` alone, so that no format needs to quote or escape it. */
    readonly plain: boolean,
  ) {}

  /** Rows. */
  get length(): number {
    return this.numbers.length / NUMBERS_PER_ROW
  }

  /** Open time of a row, ms UTC. */
  openTime(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW]
  }

  /** Close time of a row, ms UTC. */
  closeTime(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW + 1]
  }

  /** Trades in a row's candle. */
  count(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW + 2]
  }

  /** The text of a cell, as the source has it. `column` is its index, 0 to 11. */
  text(row: number, column: number): string {
    const at = row * OFFSETS_PER_ROW + 2 * column
    return decoder.decode(this.bytes.subarray(this.offsets[at], this.offsets[at + 1]))
  }

  /** A row as the service writes it. */
  row(row: number): KlineRow {
    const text = (column: number) => this.text(row, column)
    return [
      this.openTime(row),
      text(1),
      text(2),
      text(3),
      text(4),
      text(5),
      this.closeTime(row),
      text(7),
      this.count(row),
      text(9),
      text(10),
      text(11),
    ]
  }

  /** The rows whose open time lies in `[fromTime, toTime)`, ms UTC. Shares memory. */
  slice(fromTime: number, toTime: number): KlineBatch {
    const [start, end] = [this.firstRowFrom(fromTime), this.firstRowFrom(toTime)]
    return start === 0 && end === this.length ? this : this.rows(start, Math.max(start, end))
  }

  /** Rows `start` to `end` (exclusive). Shares memory. */
  rows(start: number, end: number): KlineBatch {
    return new KlineBatch(
      this.series,
      this.bytes,
      this.offsets.subarray(start * OFFSETS_PER_ROW, end * OFFSETS_PER_ROW),
      this.numbers.subarray(start * NUMBERS_PER_ROW, end * NUMBERS_PER_ROW),
      this.plain,
    )
  }

  /** Index of the first row that opens at or after `time`; `length` when there is none. Rows ascend by open time. */
  private firstRowFrom(time: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.openTime(middle) < time) low = middle + 1
      else high = middle
    }
    return low
  }
}
