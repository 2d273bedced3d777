import { ALWAYS_ON_GRID, mayBeOffGrid } from '../candle-times.js'
import { nextOpenTime } from '../intervals.js'
import { unverifiedCandles } from '../kernel/candle-compare.js'
import type { CandleTable } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import { isMultiple, toTarget } from '../resample/target-interval.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'
import { compareSeries, type Difference } from './compare-series.js'
import { overlaps } from './time-spans.js'

/** A series of which a slice of time is in memory. */
export interface SlicedSeries {
  readonly series: Series
  /** The candles that were read and are still needed, in order of time. */
  readonly table: CandleTable
  /** The spans of the series whose candles were all read, up to the end of the slice; ascending, ms UTC. */
  readonly spans: readonly WindowSpan[]
  /** Open time of the first candle, ms UTC; undefined for a series without candles. */
  readonly firstOpenTime: number | undefined
  /** Open time of the last candle before that one, ms UTC, if it was read. */
  readonly before?: number | undefined
}

/**
 * The time of a series without the stretches of candles that the exchange has off the grid. A stretch lasts until its last
 * candle should end. That is after the next candle opens, which may therefore lack trades: it opens in the stretch.
 */
export class OnGridTime {
  private readonly grid: CandleGrid
  private readonly finished: WindowSpan[] = []
  private startTime = -Infinity
  private wasOffGrid = false
  private lastOpenTime = -Infinity

  /**
   * `firstOpenTime` of the series sets a 3d grid; `before` is the open time of the candle before that one, if known; ms UTC.
   */
  constructor(
    private readonly series: Series,
    firstOpenTime: number | undefined,
    before?: number,
  ) {
    const anchor = firstOpenTime !== undefined && mayBeOffGrid(firstOpenTime) ? firstOpenTime : before
    this.grid = buildSeriesGrid(series, anchor)
    if (before !== undefined && mayBeOffGrid(before)) this.addCandle(before)
  }

  /** Adds the candles of a table that open after those that were added before. */
  add(table: CandleTable): void {
    const end = table.rowFrom(ALWAYS_ON_GRID)
    for (let row = table.rowFrom(this.lastOpenTime + 1); row < end; row++) {
      this.addCandle(table.openTime(row))
    }
  }

  /** The time up to the last candle that was added, and all time after it; ascending, ms UTC. */
  get spans(): WindowSpan[] {
    return [...this.finished, { startTime: this.startTime, endTime: Infinity }]
  }

  private addCandle(openTime: number): void {
    const { startTime } = this
    const isOffGrid = this.grid.offset(openTime) !== 0
    if (isOffGrid && !this.wasOffGrid && startTime < openTime) this.finished.push({ startTime, endTime: openTime })
    if (isOffGrid) this.startTime = nextOpenTime(this.series.interval, openTime)
    this.wasOffGrid = isOffGrid
    this.lastOpenTime = openTime
  }
}

/** A series while it is checked. */
export class CheckedSeries {
  readonly grid: CandleGrid
  private readonly onGridTime: OnGridTime
  /** Its candles that open before this time were compared; no candle is in progress then. ms UTC. */
  comparedTo = -Infinity
  unverified = 0

  constructor(readonly loaded: SlicedSeries) {
    const { series, firstOpenTime, before } = loaded
    // The first candle sets the grid of a 3d series.
    this.grid = buildSeriesGrid(series, firstOpenTime ?? before)
    this.onGridTime = new OnGridTime(series, firstOpenTime, before)
  }

  /** The spans of loaded candles in a slice, without the time in which candles are off the grid. */
  findSpans(startTime: number, endTime: number): WindowSpan[] {
    this.onGridTime.add(this.loaded.table)
    return overlaps(overlaps(this.loaded.spans, [{ startTime, endTime }]), this.onGridTime.spans)
  }

  /** Forgets the candles that open before `time`, ms UTC. */
  forget(time: number): void {
    const { table } = this.loaded
    const rows = table.rowFrom(time)
    this.unverified += unverifiedCandles(table, rows)
    table.dropFirst(rows)
    this.comparedTo = time
  }

  /** Length in ms of a candle that opens in January 1970: enough to sort intervals. */
  get approximateLength(): number {
    return nextOpenTime(this.loaded.series.interval, 0)
  }

  /** Whether candles of `target` consist of whole candles of this series: the intervals fit, and so do the grids. */
  fitsInto({ loaded, grid }: CheckedSeries): boolean {
    const { interval } = loaded.series
    if (!isMultiple(toTarget(interval), this.loaded.series.interval)) return false
    return interval !== '3d' || this.grid.offset(grid.anchor) === 0
  }
}

/** A series with the candles that a finer one adds up to. */
export class CheckedPair {
  comparisons = 0
  /** Those of each slice. */
  readonly differences: (readonly Difference[])[] = []

  constructor(
    readonly finer: CheckedSeries,
    readonly coarser: CheckedSeries,
    /** Whose candles to add up in place of those of the finer series. */
    readonly base: CheckedPair | undefined,
    /** At most one row: the candle in progress at the end of the last slice. */
    readonly begun: CandleTable,
  ) {}

  compare(aggregate: CandleTable, spans: readonly WindowSpan[]): void {
    const { loaded, grid } = this.coarser
    // The last candle may reach beyond the end of a span. A candle off the grid belongs to the span it opens in.
    const ranges = spans.map(({ startTime, endTime }) => ({ fromTime: startTime, toTime: grid.start(endTime) }))
    const pair = { ...loaded.series, finer: this.finer.loaded.series.interval }
    const { comparisons, differences } = compareSeries(pair, loaded.table, aggregate, ranges)
    this.comparisons += comparisons
    this.differences.push(differences)
  }
}
