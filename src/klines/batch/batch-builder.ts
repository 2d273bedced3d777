import { ROW_LENGTH } from '../columns.js'
import type { CandleTable } from '../kernel/candle-table.js'
import type { SeriesLabel } from '../series.js'
import { KlineBatch } from './kline-batch.js'

const encoder = new TextEncoder()
const PLAIN = /^[A-Za-z0-9._-]*$/

/** Puts candles that were computed into a batch, as if they had been read. */
export class BatchBuilder {
  private text = ''
  private bytes = 0
  private plain = true
  private readonly offsets: number[] = []
  private readonly numbers: number[] = []

  constructor(private readonly series: SeriesLabel) {}

  /** Adds a row of a table. */
  add(table: CandleTable, row: number): void {
    for (let column = 0; column < ROW_LENGTH; column++) {
      const cell = table.text(row, column)
      const isPlain = PLAIN.test(cell)
      this.plain &&= isPlain
      this.offsets.push(this.bytes)
      this.bytes += isPlain ? cell.length : encoder.encode(cell).length
      this.offsets.push(this.bytes)
      this.text += cell
    }
    this.numbers.push(table.openTime(row), table.closeTime(row), table.count(row))
  }

  /** The candles since the last time; undefined when there is none. */
  take(): KlineBatch | undefined {
    if (this.numbers.length === 0) return undefined
    const { series, text, offsets, numbers, plain } = this
    const batch = new KlineBatch(
      series,
      encoder.encode(text),
      Uint32Array.from(offsets),
      Float64Array.from(numbers),
      plain,
    )
    this.text = ''
    this.bytes = 0
    this.plain = true
    this.offsets.length = 0
    this.numbers.length = 0
    return batch
  }
}
