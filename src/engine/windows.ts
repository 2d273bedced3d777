import type { Series, SeriesLabel, WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import type { RequestedRange, TimeRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import type { WindowFailure } from '../mirror/errors.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { TargetInterval } from '../rows/target-interval.js'

/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan {
  readonly series: Series
  /** The candles that come of it: the series itself, or longer ones. */
  readonly label: SeriesLabel
  readonly resampleTo?: TargetInterval | undefined
  /** Open times of the candles that are needed, ms UTC; those of the last longer candle may end after the requested range. */
  readonly range: TimeRange
  readonly windows: readonly WindowRef[]
  /** The first startDate that the source lists, if its list was needed: older cached windows stay. */
  readonly listedFrom?: string | undefined
  /** When the first candle of the exchange opens, ms UTC, if it was asked for: windows before it need no request. */
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

export type FoundWindows = Pick<SeriesPlan, 'windows' | 'listedFrom' | 'firstCandle'>
export type UnplannedSeries = Omit<SeriesPlan, keyof FoundWindows>

/** Whether a window is over before the exchange has candles: it is empty without a request. */
export function isBeforeFirst({ firstCandle = -Infinity }: FoundWindows, window: WindowRef): boolean {
  return windowSpan(window).endTime <= firstCandle
}

/** A window with its rows. */
export interface WindowResult {
  readonly window: WindowRef
  /** `retained`: the new version lacks candles, or the source does not list the window any more. */
  readonly status: 'cached' | 'fetched' | 'revalidated' | 'retained'
  readonly batch: KlineBatch
  /** Of its file. */
  readonly bytes: Uint8Array
  /** How a fetched window differs from the cached one; undefined when none was cached. */
  readonly change?: WindowDifference | undefined
}

export interface WindowDifference {
  /** Open times of candles that were not cached, ms UTC. */
  readonly added: readonly number[]
  /** Changed cells, withdrawn candles, and candles that were added before the last cached one. */
  readonly cells: readonly ChangedCell[]
}

/** What became of a window. `absent`: the source has neither it nor any before it, so the series begins later. */
export type WindowOutcome = WindowResult | WindowFailure | { readonly window: WindowRef; readonly status: 'absent' }

export type WindowStream = AsyncGenerator<WindowOutcome, undefined, undefined>
