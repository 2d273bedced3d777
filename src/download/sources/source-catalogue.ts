import type { Fetched } from '../../http/fetched.js'
import type { Interval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { RequestCost } from '../request-cost.js'
import type { Selection } from '../selection.js'
import type { FirstCandles } from './first-candles.js'

/** What a service has: its symbols, its windows, and since when. */
export interface SourceCatalogue {
  /** Since when each series has candles, where a list does not tell: windows before that need no request. */
  readonly firstCandles?: FirstCandles
  /** The present, ms UTC, by the clock that decides which windows have started. */
  currentTime(): Promise<number>
  /**
   * The series of a selection, in the range. Calls `store` with a list of symbols that was downloaded on the way. Throws
   * `unknown_symbol` with near names.
   */
  select(selection: Selection, range: TimeRange, store: (list: Fetched<SymbolName[]>) => void): Promise<Series[]>
  /** The names of all symbols. */
  symbols(): Promise<Fetched<SymbolName[]>>
  /** The start dates of an interval. Throws `incomplete` when the list lacks what is known to exist. */
  startDates(interval: Interval): Promise<Fetched<string[]>>
  /** What a window of an interval takes. */
  windowCost(interval: Interval): RequestCost
  /** The list of symbols to store once the mirror has a window of `symbol`; undefined when it needs no change. */
  updatedSymbolList(symbol: SymbolName): Buffer | undefined
}
