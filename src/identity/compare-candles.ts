import { COLUMN_KINDS } from '../candles/columns.js'
import { trimDecimal } from '../rows/decimals.js'
import { type ChangedCell, diffRows, isSameCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { parseTargetInterval, slotAfter, type TargetInterval } from '../rows/target-interval.js'
import { OFFSETS_PER_ROW } from '../rows/wasm/assembly/layout.js'

/** The candles of a series on one of two sides. */
export interface ComparedCandles {
  /** In order of time. A batch is used until the next one is requested. */
  batches(): AsyncIterable<KlineBatch>
  /** Whether the side lacks the window of an open time (ms UTC), at which the other side has a candle: nobody knows what is in it. */
  lacks(openTime: number): boolean
}

export type SideName = 'a' | 'b'

/** Cells of both sides whose values differ. `before` is the text of side A, `after` that of B. */
export interface DifferentCell extends ChangedCell {
  readonly kind: 'cell'
}

/** Consecutive candles that only one side has. */
export interface OnlyCandles {
  readonly kind: 'only'
  readonly side: SideName
  /** Whether they open before the first or after the last candle of the other side. */
  readonly position: 'before' | 'inside' | 'after'
  /** Open times, ms UTC: all candles from the first to the last one are there. */
  readonly firstOpenTime: number
  lastOpenTime: number
  candles: number
}

export type Difference = DifferentCell | OnlyCandles

/** How two sides of a series compare. */
export interface DiffCounts {
  /** Candles that both sides have. */
  readonly both: number
  readonly changedCandles: number
  readonly changedCells: number
  readonly onlyInA: number
  readonly onlyInB: number
  /** Of these, candles before the first or after the last one of the other side. */
  readonly beyond: number
  /** Candles whose window the other side lacks. */
  readonly notCompared: number
}

/**
 * Compares the candles of two sides by open time: times and numbers of trades as numbers, decimals by value, whatever their number of
 * zeros; `ignore` is no part of a candle. Pure, and in the memory of two batches.
 */
export class CandleComparison {
  private readonly counted = {
    both: 0,
    changedCandles: 0,
    changedCells: 0,
    onlyInA: 0,
    onlyInB: 0,
    beyond: 0,
    notCompared: 0,
  }
  private readonly a: SideReader
  private readonly b: SideReader
  private readonly target: TargetInterval
  private found: Difference[] = []
  private run: OnlyCandles | undefined
  /** Batches that differ somewhere: their other rows are compared one by one. */
  private tried: { readonly a: KlineBatch; readonly b: KlineBatch } | undefined

  /** `interval`: of both sides, also a resampled one. */
  constructor(interval: string, a: ComparedCandles, b: ComparedCandles) {
    this.target = parseTargetInterval(interval)
    this.a = new SideReader(a)
    this.b = new SideReader(b)
  }

  /** The counts when all differences were read. */
  get counts(): DiffCounts {
    return this.counted
  }

  /** All differences in order of time, some at once. Throws what the sides throw. */
  async *differences(): AsyncGenerator<readonly Difference[]> {
    const { a, b } = this
    try {
      for (;;) {
        await a.fill()
        await b.fill()
        if (a.isOver && b.isOver) break
        this.compareLoaded()
        yield this.take()
      }
      this.endRun()
      yield this.take()
    } finally {
      await a.close()
      await b.close()
    }
  }

  private take(): readonly Difference[] {
    const { found } = this
    this.found = []
    return found
  }

  /** Compares until the rows of a side are used up, and there are others. */
  private compareLoaded(): void {
    const { a, b } = this
    while (!a.needsMore && !b.needsMore && !(a.isOver && b.isOver)) {
      if (a.openTime < b.openTime) this.addOnly('a', a, b)
      else if (b.openTime < a.openTime) this.addOnly('b', b, a)
      else if (a.batch && b.batch) this.compareBoth(a.batch, b.batch)
    }
  }

  /** Compares the next candles, of one time: all that were read at once if they are the same, or else one. */
  private compareBoth(a: KlineBatch, b: KlineBatch): void {
    const { counted } = this
    const [row, otherRow] = [this.a.row, this.b.row]
    this.endRun()
    const rows = Math.min(a.length - row, b.length - otherRow)
    const isTried = this.tried?.a === a && this.tried.b === b
    const isSame = !isTried && isSameRows(a, row, b, otherRow, rows)
    if (!isSame) {
      this.tried = { a, b }
      const cells = diffRows(a, row, b, otherRow, isSameValue)
      if (cells.length > 0) counted.changedCandles++
      counted.changedCells += cells.length
      for (const cell of cells) this.found.push({ kind: 'cell', ...cell })
    }
    const compared = isSame ? rows : 1
    counted.both += compared
    this.a.skip(compared)
    this.b.skip(compared)
  }

  /** Adds the next candle of a side, which the other one does not have. */
  private addOnly(side: SideName, reader: SideReader, other: SideReader): void {
    const { counted, run } = this
    const { openTime } = reader
    reader.skip(1)
    if (other.candles.lacks(openTime)) {
      this.endRun()
      counted.notCompared++
      return
    }
    const position =
      other.hasCandles && other.isBeforeFirst ? 'before' : other.hasCandles && other.isOver ? 'after' : 'inside'
    counted[side === 'a' ? 'onlyInA' : 'onlyInB']++
    if (position !== 'inside') counted.beyond++
    const isNext = run && run.side === side && run.position === position
    if (isNext && openTime === slotAfter(this.target, run.lastOpenTime, 1)) {
      run.lastOpenTime = openTime
      run.candles++
      return
    }
    this.endRun()
    this.run = { kind: 'only', side, position, firstOpenTime: openTime, lastOpenTime: openTime, candles: 1 }
  }

  private endRun(): void {
    if (this.run) this.found.push(this.run)
    this.run = undefined
  }
}

/** A place in the candles of a side. */
class SideReader {
  /** What was read last; undefined before the first and after the last batch. */
  batch: KlineBatch | undefined
  row = 0
  isOver = false
  /** Whether the side has any candle. */
  hasCandles = false
  /** Whether its first candle is the next one. */
  isBeforeFirst = true
  private readonly batches: AsyncIterator<KlineBatch>

  constructor(readonly candles: ComparedCandles) {
    this.batches = candles.batches()[Symbol.asyncIterator]()
  }

  /** Whether the rows that were read are used up, and there may be others. */
  get needsMore(): boolean {
    return !this.isOver && this.row === (this.batch?.length ?? 0)
  }

  /** When the next candle opens, ms UTC; infinite after the last one. */
  get openTime(): number {
    return this.batch?.openTime(this.row) ?? Infinity
  }

  /** Reads on if that is needed. */
  async fill(): Promise<void> {
    while (this.needsMore) {
      const { done, value } = await this.batches.next()
      this.isOver = done === true
      this.batch = done ? undefined : value
      this.row = 0
      this.hasCandles ||= this.openTime < Infinity
    }
  }

  skip(rows: number): void {
    this.row += rows
    this.isBeforeFirst = false
  }

  async close(): Promise<void> {
    await this.batches.return?.()
  }
}

/** Whether two cells have the same value. */
function isSameValue(a: KlineBatch, row: number, b: KlineBatch, otherRow: number, column: number): boolean {
  if (isSameCell(a, row, b, otherRow, column)) return true
  const kind = COLUMN_KINDS[column]
  if (kind === 'text') return true
  const [text, other] = [a.text(row, column), b.text(otherRow, column)]
  return kind === 'decimal' ? trimDecimal(text) === trimDecimal(other) : Number(text) === Number(other)
}

/** Whether rows of two batches have the same bytes in the same cells. Compares all at once: hardly any candle differs. */
function isSameRows(a: KlineBatch, row: number, b: KlineBatch, otherRow: number, rows: number): boolean {
  const [cells, otherCells] = [
    a.offsets.subarray(row * OFFSETS_PER_ROW, (row + rows) * OFFSETS_PER_ROW),
    b.offsets.subarray(otherRow * OFFSETS_PER_ROW, (otherRow + rows) * OFFSETS_PER_ROW),
  ]
  const [start, end] = [cells[0], cells[cells.length - 1]]
  return (
    toBuffer(cells).equals(toBuffer(otherCells)) &&
    toBuffer(a.bytes.subarray(start, end)).equals(b.bytes.subarray(start, end))
  )
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
