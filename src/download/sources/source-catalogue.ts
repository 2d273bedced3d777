import type { Fetched } from '../../http/fetched.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { Interval } from '../../klines/intervals.js'
import type { Series, WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { RequestCost } from '../request-cost.js'
import type { Selection } from '../selection.js'
import type { Warn } from './window-source.js'

/** How lists are downloaded. */
export interface ListOptions {
  /** Take a list that lacks known entries as it is. */
  readonly acceptList: boolean
  /** Download more than 20 symbols of a pattern. */
  readonly manySymbols: boolean
  /** Send more than 50,000 requests. */
  readonly manyRequests: boolean
  /** Final windows are requested too. */
  readonly refresh: boolean
  readonly signal: AbortSignal
  readonly warn: Warn
  /** The present, ms UTC. */
  readonly now: () => number
}

/** What a service has: its symbols, its windows, and since when. */
export interface SourceCatalogue {
  /** The present, ms UTC, by the clock that decides which windows have started. */
  currentTime(): Promise<number>
  /**
   * The series of a selection, in the range. Calls `store` with a list of symbols that was downloaded on the way. Throws
   * `unknown_symbol` with near names.
   */
  select(selection: Selection, range: TimeRange, store: (list: Fetched<SymbolName[]>) => void): Promise<Series[]>
  /** The names of all symbols. */
  symbols(): Promise<Fetched<SymbolName[]>>
  /** Whether a client may request windows of a symbol: decided without a request for each name that strangers make up. */
  hasSymbol(symbol: SymbolName): Promise<boolean>
  /** The start dates of an interval. Throws `incomplete` when the list lacks what is known to exist. */
  startDates(interval: Interval): Promise<Fetched<string[]>>
  /** The file of a window that ends before the first candle of its series, if that is known without a request for it. */
  emptyWindow(window: WindowRef): Promise<Fetched<KlineBatch> | undefined>
  /** A window that was downloaded on the way to what the lists say. */
  takePrefetched(window: WindowRef): Promise<Fetched<KlineBatch> | undefined>
  /** What a window of an interval takes. */
  windowCost(interval: Interval): RequestCost
  /** Whether a window without a cached file is known to be empty already. */
  isKnownEmpty(window: WindowRef): boolean
  /** The list of symbols to store once the mirror has a window of `symbol`; undefined when it needs no change. */
  updatedSymbolList(symbol: SymbolName): Buffer | undefined
}
