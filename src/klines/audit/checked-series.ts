import { nextOpenTime } from '../intervals.js'
import { unverifiedCandles } from '../kernel/candle-compare.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import { isMultiple, toTarget } from '../resample/target-interval.js'
import type { WindowSpan } from '../windows.js'
import { OnGridTime } from './off-grid.js'
import type { SlicedSeries } from './sliced-series.js'
import { overlaps } from './time-spans.js'

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
