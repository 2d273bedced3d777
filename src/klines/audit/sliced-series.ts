import type { CandleTable } from '../kernel/candle-table.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'

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
