import { type Series, type SeriesLabel, type WindowRef, windowOf } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import type { RequestedRange, TimeRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import type { TargetInterval } from '../rows/target-interval.js'
/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan {
  readonly series: Series
  /** The candles that come of it: the series itself, or longer ones. */
  readonly label: SeriesLabel
  /** Set when it is resampled. */
  readonly resampleTo?: TargetInterval | undefined
  /** Open times of the candles that are needed, ms UTC; those of the last longer candle may end after the requested range. */
  readonly range: TimeRange
  readonly windows: readonly WindowRef[]
  /** The first startDate that the source lists, if its list was needed: older cached windows stay as they are. */
  readonly listedFrom?: string | undefined
  /** When the first candle of the exchange opens, ms UTC, if it was asked for: windows before it are empty and need no request. */
  readonly firstCandle?: number | undefined
}

/** What a run needs. Plain data. */
export interface Plan {
  readonly range: RequestedRange
  /** In the order of the request. */
  readonly series: readonly SeriesPlan[]
  /** Symbols of the mirror that the source does not know any more: named at the end, exit 3. */
  readonly gone: readonly SymbolName[]
}

/** How long the newest candles of a range that ends now may lack: a static service is refreshed once a day. */
export const MAY_LAG_MS = 48 * 3_600_000

/** What is found out about the windows of a series. */
export type FoundWindows = Pick<SeriesPlan, 'windows' | 'listedFrom' | 'firstCandle'>
/** A series whose windows are not known yet. */
export type UnplannedSeries = Omit<SeriesPlan, keyof FoundWindows>

/** Whether a window of a plan is over before the exchange has candles: it is empty without a request. */
export function isBeforeFirst({ firstCandle = Number.NEGATIVE_INFINITY }: FoundWindows, window: WindowRef): boolean {
  return windowSpan(window).endTime <= firstCandle
}

/** The windows of some dates that overlap a range and have begun by `present`, ms UTC. */
export function planWindows(
  series: Series,
  dates: readonly string[],
  { fromTime, toTime }: TimeRange,
  present: number,
): WindowRef[] {
  return [...new Set(dates)]
    .sort()
    .map(startDate => windowOf(series, startDate))
    .filter(window => {
      const { startTime, endTime } = windowSpan(window)
      return endTime > fromTime && startTime < toTime && startTime <= present
    })
}
