import { Aggregate } from './aggregate.js'
import type { WindowSpan } from './calendar.js'
import { COLUMNS } from './columns.js'
import { type Interval, nextOpenTime } from './intervals.js'
import type { KlineBatch } from './kline-batch.js'
import { RowValues } from './row-values.js'
import type { Series } from './series.js'
import type { SymbolName } from './symbols.js'
import { bucketEnd, bucketStart, isMultiple, type TargetInterval, targetOf } from './target-interval.js'

/** A series as it is held. */
export interface HeldSeries {
  readonly series: Series
  /** Its candles, in order of time. */
  readonly batches: readonly KlineBatch[]
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

/** How often one interval was compared with another. */
export interface AuditPair {
  readonly symbol: SymbolName
  readonly interval: Interval
  readonly finer: Interval
  readonly comparisons: number
}

/** What an audit of one symbol found. */
export interface Audit {
  readonly pairs: readonly AuditPair[]
  readonly differences: readonly Difference[]
  /** Candles of each series that no finer series covers: not known to be right, and not known to be wrong. */
  readonly uncovered: ReadonlyMap<Interval, number>
}

/** BTCUSDT 6h at 2017-09-06 12:00: the exchange's own close time is 1 ms off what its 2h candles say (observed.md). */
const KNOWN = {
  symbol: 'BTCUSDT',
  interval: '6h',
  finer: '2h',
  openTime: Date.UTC(2017, 8, 6, 12),
  column: 'close_time',
}

/**
 * Compares every coarser candle that a finer series of the same symbol covers with the exact aggregate of its finer candles,
 * in all columns, for every pair of intervals of which one fits into the other. Throws `digits_lost` at a decimal too long to
 * be added up exactly.
 */
export function auditSymbol(held: readonly HeldSeries[]): Audit {
  const covers = new Map(held.map(one => [one.series.interval, new Coverage(one)]))
  const pairs: AuditPair[] = []
  const differences: Difference[] = []
  for (const finer of held) {
    const comparers = held
      .filter(({ series }) => isMultiple(targetOf(series.interval), finer.series.interval))
      .map(coarser => new Comparer(finer, covers.get(coarser.series.interval) as Coverage))
    compareAll(finer, comparers)
    for (const { pair, differences: found } of comparers) {
      pairs.push(pair)
      differences.push(...found)
    }
  }
  return {
    pairs,
    differences,
    uncovered: new Map([...covers].map(([interval, { uncovered }]) => [interval, uncovered])),
  }
}

/** One pass over the finer candles for all that they make up. */
function compareAll({ batches }: HeldSeries, comparers: readonly Comparer[]): void {
  if (comparers.length === 0) return
  const values = new RowValues()
  for (const batch of batches) {
    for (let row = 0; row < batch.length; row++) {
      values.read(batch, row)
      for (const comparer of comparers) comparer.add(values)
    }
  }
  for (const comparer of comparers) comparer.end()
}

/** A coarser series, and which of its candles were compared with anything. */
class Coverage {
  readonly openTimes: number[]
  private readonly places: { batch: KlineBatch; row: number }[]
  private readonly seen: Uint8Array

  constructor({ batches, series, spans }: HeldSeries) {
    this.series = series
    this.spans = spans
    this.places = batches.flatMap(batch => Array.from({ length: batch.length }, (_, row) => ({ batch, row })))
    this.openTimes = this.places.map(({ batch, row }) => batch.openTime(row))
    this.seen = new Uint8Array(this.places.length)
  }

  readonly series: Series
  readonly spans: readonly WindowSpan[]

  get uncovered(): number {
    return this.seen.reduce((sum, seen) => sum + 1 - seen, 0)
  }

  read(index: number, values: RowValues): void {
    this.seen[index] = 1
    const { batch, row } = this.places[index]
    values.read(batch, row)
  }

  text(index: number, column: number): string {
    const { batch, row } = this.places[index]
    const name = COLUMNS[column]
    if (name === 'close_time') return String(batch.closeTime(row))
    return name === 'count' ? String(batch.count(row)) : batch.text(row, column)
  }
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

/** Compares one coarser series with the aggregates of a finer one as these come. */
class Comparer {
  readonly differences: Difference[] = []
  private comparisons = 0
  private readonly target: TargetInterval
  private readonly candle = new Aggregate()
  private readonly values = new RowValues()
  private endTime = Number.NEGATIVE_INFINITY
  /** The next candle of the coarser series. */
  private next = 0
  private readonly finerSpans: SpanCursor
  private readonly coarserSpans: SpanCursor

  constructor(
    private readonly finer: HeldSeries,
    private readonly coarser: Coverage,
  ) {
    // A 3d grid is taken from the first candle (observed.md, "Grids").
    this.target = { ...targetOf(coarser.series.interval), anchor: coarser.openTimes[0] }
    this.finerSpans = new SpanCursor(finer.spans)
    this.coarserSpans = new SpanCursor(coarser.spans)
  }

  get pair(): AuditPair {
    const { symbol, interval } = this.coarser.series
    return { symbol, interval, finer: this.finer.series.interval, comparisons: this.comparisons }
  }

  add(values: RowValues): void {
    if (values.openTime >= this.endTime) {
      this.finish()
      const start = bucketStart(this.target, this.coarser.series.symbol, values.openTime)
      this.candle.start(start)
      this.endTime = bucketEnd(this.target, start)
    }
    this.candle.add(values)
  }

  end(): void {
    this.finish()
    this.skipTo(Number.POSITIVE_INFINITY)
  }

  /** The aggregate is done: the coarser candle of its time, and those before it that nothing was found for. */
  private finish(): void {
    const { openTime, rows } = this.candle
    if (rows === 0) return
    this.skipTo(openTime)
    const isThere = this.coarser.openTimes[this.next] === openTime
    if (isThere) this.next++
    if (!this.isCovered(openTime)) return
    this.comparisons++
    if (isThere) this.compare(this.next - 1)
    else this.differ(undefined, 'no candle', `${rows} finer candles`, openTime)
  }

  /** Candles that open before `time` and have no finer candle, though these should be there. */
  private skipTo(time: number): void {
    const { openTimes } = this.coarser
    for (; this.next < openTimes.length && openTimes[this.next] < time; this.next++) {
      const openTime = openTimes[this.next]
      if (!this.isCovered(openTime)) continue
      this.comparisons++
      this.coarser.read(this.next, this.values)
      this.differ(undefined, 'a candle', 'no finer candle', openTime)
    }
  }

  private compare(index: number): void {
    this.coarser.read(index, this.values)
    for (const column of this.candle.differences(this.values)) {
      this.differ(COLUMNS[column], this.coarser.text(index, column), this.candle.text(column), this.values.openTime)
    }
  }

  /** Whether both series are held from a candle's start to its end. Asked in order of time. */
  private isCovered(openTime: number): boolean {
    const endTime = nextOpenTime(this.coarser.series.interval, openTime)
    return this.finerSpans.hold(openTime, endTime) && this.coarserSpans.hold(openTime, endTime)
  }

  private differ(column: Difference['column'], value: string, expected: string, openTime: number): void {
    const { symbol, interval } = this.coarser.series
    const found = { symbol, interval, finer: this.finer.series.interval, openTime, column }
    const known = Object.entries(KNOWN).every(
      ([key, expectedValue]) => found[key as keyof typeof found] === expectedValue,
    )
    this.differences.push({ ...found, value, expected, known })
  }
}
