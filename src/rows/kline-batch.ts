import { type KlineRow, ROW_LENGTH } from '../candles/columns.js'
import type { SeriesLabel } from '../candles/series.js'
import { NUMBERS_PER_ROW, OFFSETS_PER_ROW } from './wasm/assembly/layout.js'
import type { Kernel } from './wasm/kernel.js'

/** Cells that no format needs to quote or escape. */
const PLAIN_CELL = /^[A-Za-z0-9._-]*$/

/** Keeps a byte order mark: at the start of a cell it is part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const NO_ROWS = [new Uint8Array(), new Uint32Array(), new Float64Array()] as const

/** Rows of one series as bytes, with the place of every cell: what flows from a window file to an exporter. */
export class KlineBatch {
  /** Number of rows. */
  readonly length: number

  /** @internal */
  constructor(
    readonly series: SeriesLabel,
    /** These three: see `IndexedRows`. @internal */
    readonly bytes: Uint8Array,
    /** @internal */
    readonly offsets: Uint32Array,
    /** @internal */
    readonly numbers: Float64Array,
    /** Whether every cell is a `PLAIN_CELL`. @internal */
    readonly plain: boolean,
    /** The kernel in whose memory the rows lie until it reads others; undefined for memory of their own. @internal */
    readonly kernel?: Kernel,
  ) {
    this.length = numbers.length / NUMBERS_PER_ROW
  }

  /** A batch without rows. @internal */
  static empty(series: SeriesLabel): KlineBatch {
    return new KlineBatch(series, ...NO_ROWS, true)
  }

  /** Open time of a row, ms UTC. */
  openTime(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW]
  }

  /** Open time of the first row, ms UTC; undefined without rows. */
  get firstOpenTime(): number | undefined {
    return this.length === 0 ? undefined : this.openTime(0)
  }

  /** Open time of the last row, ms UTC. */
  get lastOpenTime(): number | undefined {
    return this.length === 0 ? undefined : this.openTime(this.length - 1)
  }

  /** Close time of a row, ms UTC. */
  closeTime(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW + 1]
  }

  /** Number of trades in a row's candle. */
  count(row: number): number {
    return this.numbers[row * NUMBERS_PER_ROW + 2]
  }

  /** The text of a cell as the source has it. `column` is its index, 0 to 11. */
  text(row: number, column: number): string {
    const { bytes, offsets } = this
    const cell = row * OFFSETS_PER_ROW + 2 * column
    return decoder.decode(bytes.subarray(offsets[cell], offsets[cell + 1]))
  }

  /** A row as the service writes it: times in ms UTC, decimals as text. */
  row(row: number): KlineRow {
    const cells: (string | number)[] = Array.from({ length: ROW_LENGTH }, (_, column) => this.text(row, column))
    cells[0] = this.openTime(row)
    cells[6] = this.closeTime(row)
    cells[8] = this.count(row)
    return cells as KlineRow
  }

  /** The rows whose open time lies in `[fromTime, toTime)`, ms UTC. Shares memory. */
  slice(fromTime: number, toTime: number): KlineBatch {
    const [start, end] = [firstRowFrom(this, fromTime), firstRowFrom(this, toTime)]
    return start === 0 && end === this.length ? this : this.rows(start, Math.max(start, end))
  }

  /** Rows `start` to `end` (exclusive). Shares memory. */
  rows(start: number, end: number): KlineBatch {
    const offsets = this.offsets.subarray(start * OFFSETS_PER_ROW, end * OFFSETS_PER_ROW)
    const numbers = this.numbers.subarray(start * NUMBERS_PER_ROW, end * NUMBERS_PER_ROW)
    return new KlineBatch(this.series, this.bytes, offsets, numbers, this.plain, this.kernel)
  }
}

/** First row from `row` on that opens at or after `time`; `length` when there is none. Rows ascend by open time, ms UTC. */
export function firstRowFrom(
  rows: { readonly length: number; openTime(row: number): number },
  time: number,
  row = 0,
): number {
  let [low, high] = [row, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows.openTime(middle) < time) low = middle + 1
    else high = middle
  }
  return low
}

/** Builds batches of rows that were computed, or read from something else than windows. */
export class BatchBuilder {
  private text = ''
  private bytes = 0
  private plain = true
  private offsets: number[] = []
  private numbers: number[] = []

  constructor(private readonly series: SeriesLabel) {}

  /** Adds a row: its twelve cells as text, and three of them as integers: open and close time (ms UTC), trades. */
  add(cells: readonly string[], numbers: readonly [number, number, number]): void {
    for (const cell of cells) {
      const isPlain = PLAIN_CELL.test(cell)
      this.plain &&= isPlain
      this.offsets.push(this.bytes)
      this.bytes += isPlain ? cell.length : Buffer.byteLength(cell)
      this.offsets.push(this.bytes)
      this.text += cell
    }
    this.numbers.push(...numbers)
  }

  /** The rows added since the last call; undefined when there are none. */
  take(): KlineBatch | undefined {
    if (this.numbers.length === 0) return undefined
    const bytes = Buffer.from(this.text)
    const [offsets, numbers] = [Uint32Array.from(this.offsets), Float64Array.from(this.numbers)]
    const batch = new KlineBatch(this.series, bytes, offsets, numbers, this.plain)
    Object.assign(this, { text: '', bytes: 0, plain: true, offsets: [], numbers: [] })
    return batch
  }
}

/** The last rows of batches that have memory of their own. */
export async function* lastRows(batches: AsyncIterable<KlineBatch>, count: number): AsyncGenerator<KlineBatch> {
  const last: KlineBatch[] = []
  let rows = 0
  for await (const batch of batches) {
    last.push(batch)
    rows += batch.length
    while (rows - last[0].length >= count) rows -= (last.shift() as KlineBatch).length
  }
  for (const [index, batch] of last.entries())
    yield index === 0 ? batch.rows(Math.max(0, rows - count), batch.length) : batch
}
