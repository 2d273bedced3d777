import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { Interval } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { Fetched } from './fetched.js'
import type { RetryingFetcher } from './retrying-fetcher.js'

/**
 * A service that has candles, in windows. Its methods throw a `FetchError`, `unreachable` or `rate_limited`, and the signal's
 * reason when it aborts.
 */
export interface WindowService {
  readonly fetcher: RetryingFetcher
  /** The names of its symbols: the ten of the public service first, then the others by name. */
  symbols(signal: AbortSignal): Promise<Fetched<SymbolName[]>>
  /** The start dates of an interval's windows, ascending. */
  startDates(interval: Interval, signal: AbortSignal): Promise<Fetched<string[]>>
  /**
   * A window: its bytes are those of the file to store. `unmodified` when it is not newer than `cachedMtimeMs` (ms UTC); a
   * service may ignore that.
   */
  window(
    window: WindowRef,
    cachedMtimeMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Fetched<KlineBatch> | 'unmodified'>
}
