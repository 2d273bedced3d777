import type { SeriesRange } from '../download/plan.js'
import type { WindowFailure } from '../download/sources/window-source.js'
import type { Coverage } from '../klines/audit/coverage.js'
import type { SeriesLabel } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import type { ComparedCandles } from './compare-candles.js'

/** The candles of a series on one side, and which of them cannot be compared. */
export interface SideCandles extends ComparedCandles {
  /** Windows that are missing where the other side has candles, and corrupt ones: complete when all candles were read. */
  readonly failures: readonly WindowFailure[]
  /** How much of the requested range the side has, when all candles were read; undefined for a file, and without a named end. */
  coverage(): Coverage | undefined
}

/** One of the two things that are compared. */
export interface DiffSide {
  /** As the user named it. */
  readonly name: string
  /** A mirror and a service have candles of the exchange's intervals, and a mirror may lack windows. */
  readonly kind: 'file' | 'mirror' | 'service'
  /** Base address that the candles come from; undefined for a file, and for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** The series that it has; of a service they are not listed. */
  readonly series: readonly SeriesLabel[]
  /** The open times of a series from the first candle to the last one; undefined without any. */
  span(series: SeriesLabel): TimeRange | undefined
  /** Downloads what a service has in these ranges. Throws what `downloadKlines` throws about windows and the service. */
  prepare(ranges: readonly SeriesRange[]): Promise<void>
  /** The candles of a series in a range. */
  open(series: SeriesLabel, range: TimeRange): SideCandles
  close(): Promise<void>
}
