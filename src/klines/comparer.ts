import { Aggregate } from './aggregate.js'
import type { WindowSpan } from './calendar.js'
import { type CandleTable, DECIMALS } from './candle-table.js'
import { COLUMNS } from './columns.js'
import { type Interval, nextOpenTime } from './intervals.js'
import type { Series } from './series.js'
import type { SymbolName } from './symbols.js'
import { Buckets, isMultiple, targetOf } from './target-interval.js'

/** A series as it is held. */
export interface HeldSeries {
  readonly series: Series
  /** Its candles, in order of time. */
  readonly table: CandleTable
  /** Stretches for which all candles are held that there are, ascending, ms UTC. */
  readonly spans: readonly WindowSpan[]
}

/** A candle of the exchange that is not what its finer candles add up to. */
export interface Difference {
  readonly symbol: SymbolName
  readonly interval: Interval
  /** What it was compared with. */
  readonly finer: Interval
  readonly openTime: number
  /** Undefined when one of the two is not there at all. */
  readonly column: (typeof COLUMNS)[number] | undefined
  /** What the candle says. */
  readonly value: string
  /** What the finer ones add up to. */
  readonly expected: string
  /** Whether this is how the exchange has it, for good (observed.md). */
  readonly known: boolean
}

/** BTCUSDT 6h at 2017-09-06 12:00: the exchange's own close time is 1 ms off what its 2h candles say (observed.md). */
const KNOWN = {
  symbol: 'BTCUSDT',
  interval: '6h',
  finer: '2h',
  openTime: Date.UTC(2017, 8, 6, 12),
  column: 'close_time',
}

/** Says whether stretches of time are held; asked in order of time. */
class SpanCursor {
  private at = 0

  constructor(private readonly spans: readonly WindowSpan[]) {}

  hold(startTime: number, endTime: number): boolean {
    while (this.at < this.spans.length && this.spans[this.at].endTime <= startTime) this.at++
    const span = this.spans[this.at]
    return span !== undefined && span.startTime <= startTime && endTime <= span.endTime
  }
}

/** Compares one coarser series with the aggregates of a finer one. */
export class Comparer {
  comparisons = 0
  readonly differences: Difference[] = []
  /** Those whose candles are made of this one's. */
  readonly feeds: Comparer[] = []
  private readonly anchor: number | undefined
  private readonly buckets: Buckets
  private readonly candle = new Aggregate()
  /** When the candle under way ends, ms. */
  private endTime = Number.NEGATIVE_INFINITY
  /** The next candle of the coarser series. */
  private next = 0
  private readonly finerSpans: SpanCursor
  private readonly coarserSpans: SpanCursor

  constructor(
    private readonly finer: HeldSeries,
    readonly coarser: HeldSeries,
    /** By row of the coarser series: 1 where it was compared with anything. */
    private readonly compared: Uint8Array,
  ) {
    // A 3d grid is taken from the first candle (observed.md, "Grids").
    this.anchor = coarser.table.length > 0 ? coarser.table.openTimes[0] : undefined
    this.buckets = new Buckets({ ...targetOf(coarser.series.interval), anchor: this.anchor }, coarser.series.symbol)
    this.finerSpans = new SpanCursor(finer.spans)
    this.coarserSpans = new SpanCursor(coarser.spans)
  }

  /** Whether its candles are whole ones of `other`: their intervals fit, and so does the grid that was found. */
  canBeMadeOf({ buckets, coarser }: Comparer): boolean {
    const { anchor = 0 } = this
    const { interval } = this.coarser.series
    if (!isMultiple(targetOf(interval), coarser.series.interval)) return false
    return interval !== '3d' || buckets.start(anchor) === anchor
  }

  /** The next finer candle. */
  addRow(row: number): void {
    const { table } = this.finer
    const openTime = table.openTimes[row]
    if (openTime >= this.endTime) this.begin(openTime)
    this.candle.add(table, row)
  }

  /** The next candle made of finer ones. */
  private addCandle(candle: Aggregate): void {
    if (candle.openTime >= this.endTime) this.begin(candle.openTime)
    this.candle.merge(candle)
  }

  /** After the last finer candle, and after what feeds this one. */
  end(): void {
    this.finish()
    this.skipTo(Number.POSITIVE_INFINITY)
  }

  private begin(openTime: number): void {
    this.finish()
    const start = this.buckets.start(openTime)
    this.endTime = this.buckets.end(start)
    this.candle.start(start)
  }

  /** The aggregate is done: the coarser candle of its time, and those before it that nothing was found for. */
  private finish(): void {
    const { openTime, rows } = this.candle
    if (rows === 0) return
    for (const comparer of this.feeds) comparer.addCandle(this.candle)
    this.skipTo(openTime)
    const row = this.next
    const isThere = row < this.coarser.table.length && this.coarser.table.openTimes[row] === openTime
    if (isThere) this.next++
    if (!this.isCovered(openTime, this.endTime)) return
    this.comparisons++
    if (isThere) this.compare(row, openTime)
    else this.differ(undefined, 'no candle', `${rows} finer candles`, openTime)
  }

  /** Candles that open before `time` and have no finer candle, though these should be there. */
  private skipTo(time: number): void {
    const { length, openTimes } = this.coarser.table
    for (; this.next < length && openTimes[this.next] < time; this.next++) {
      const openTime = openTimes[this.next]
      if (!this.isCovered(openTime, nextOpenTime(this.coarser.series.interval, openTime))) continue
      this.comparisons++
      this.compared[this.next] = 1
      this.differ(undefined, 'a candle', 'no finer candle', openTime)
    }
  }

  private compare(row: number, openTime: number): void {
    const { table } = this.coarser
    this.compared[row] = 1
    if (this.candle.equals(table, row)) return
    for (const column of this.candle.differences(table, row)) {
      this.differ(COLUMNS[column], cellText(table, row, column), this.candle.text(column), openTime)
    }
  }

  /** Whether both series are held from a candle's start to its end. Asked in order of time. */
  private isCovered(openTime: number, endTime: number): boolean {
    return this.finerSpans.hold(openTime, endTime) && this.coarserSpans.hold(openTime, endTime)
  }

  private differ(column: Difference['column'], value: string, expected: string, openTime: number): void {
    const { symbol, interval } = this.coarser.series
    const found = { symbol, interval, finer: this.finer.series.interval, openTime, column }
    const known = Object.entries(KNOWN).every(([key, of]) => found[key as keyof typeof found] === of)
    this.differences.push({ ...found, value, expected, known })
  }
}

function cellText(table: CandleTable, row: number, column: number): string {
  const name = COLUMNS[column]
  if (name === 'close_time') return String(table.closeTimes[row])
  if (name === 'count') return String(table.counts[row])
  return name === 'ignore' ? table.ignore(row) : table.decimal(row, DECIMALS.indexOf(column))
}
