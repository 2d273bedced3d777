import type { SeriesLabel } from '../candles/series.js'
import { KlineBatch, PLAIN_CELL } from './kline-batch.js'

const encoder = new TextEncoder()

/** Builds batches of rows that were computed, or read from something else than windows. */
export class BatchBuilder {
  private text = ''
  private bytes = 0
  private plain = true
  private offsets: number[] = []
  private numbers: number[] = []

  constructor(private readonly series: SeriesLabel) {}

  /** Adds a row: its twelve cells as text, and of these the three integers: open time, close time (ms UTC), number of trades. */
  add(cells: readonly string[], numbers: readonly [number, number, number]): void {
    for (const cell of cells) {
      const isPlain = PLAIN_CELL.test(cell)
      this.plain &&= isPlain
      this.offsets.push(this.bytes)
      this.bytes += isPlain ? cell.length : encoder.encode(cell).length
      this.offsets.push(this.bytes)
      this.text += cell
    }
    this.numbers.push(...numbers)
  }

  /** The rows added since the last call; undefined when there are none. */
  take(): KlineBatch | undefined {
    if (this.numbers.length === 0) return undefined
    const bytes = encoder.encode(this.text)
    const [offsets, numbers] = [Uint32Array.from(this.offsets), Float64Array.from(this.numbers)]
    const batch = new KlineBatch(this.series, { bytes, offsets, numbers }, this.plain)
    Object.assign(this, { text: '', bytes: 0, plain: true, offsets: [], numbers: [] })
    return batch
  }
}
