import type { CandleTable } from '../kernel/candle-table.js'
import type { WindowSpan } from '../windows.js'
import type { CheckedSeries } from './checked-series.js'
import { compareSeries, type Difference } from './compare-series.js'

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
