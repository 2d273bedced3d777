import { ALWAYS_ON_GRID, mayBeOffGrid } from '../candle-times.js'
import { nextOpenTime } from '../intervals.js'
import type { CandleTable } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'

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
