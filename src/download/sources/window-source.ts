import type { FileVersion } from '../../fs/read-file.js'
import type { SeriesTotals } from '../../klines/audit/gap-counter.js'
import type { WindowChange } from '../../klines/batch/diff.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { Interval } from '../../klines/intervals.js'
import type { Series, WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { RequestCost } from '../request-cost.js'
import type { Selection } from '../selection.js'

/**
 * Where a window came from: `cached` in the mirror and final (or done in this run), `fetched` from the service, `revalidated`
 * by the service, `retained` because the service's new version lacks rows or the service no longer lists it.
 */
export type WindowStatus = 'cached' | 'fetched' | 'revalidated' | 'retained'

/**
 * What is cached of a window: a version that is used as it is (`cached`), one that may have changed (`stale`), one that is not as the
 * mirror's record has it (`unrecorded`), or none (`missing`).
 */
export type CacheState = 'cached' | 'stale' | 'unrecorded' | 'missing'

/** A window with its rows. */
export interface WindowResult {
  readonly window: WindowRef
  readonly status: WindowStatus
  readonly batch: KlineBatch
  /** Size of its file, bytes; 0 for an empty window without a file. */
  readonly size: number
  /** How a fetched window differs from the cached one. */
  readonly change?: WindowChange | undefined
  /** The cached file that the rows were read from, where that is known. Its bytes are valid as long as the batch. */
  readonly file?: (FileVersion & { readonly bytes: Uint8Array }) | undefined
}

/** A cached window whose candles an earlier run has counted, and whose file has not changed since. */
export interface KnownTotals {
  /** Size of its file, bytes. */
  readonly size: number
  /** Modification time of its file, ms. */
  readonly mtimeMs: number
  /** SHA-256 of its file, in hex. */
  readonly sha256: string
  /** Of all its candles. */
  readonly totals: SeriesTotals
}

/** A window that could not be downloaded or read. `reason` does not repeat its name. */
export interface WindowFailure {
  readonly window: WindowRef
  readonly status: 'failed'
  readonly reason: string
}

/** What is told about a source. */
export interface SourceInfo {
  /** The base address the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** Whether this is a mirror alone, so that no window needs a request. */
  readonly offline: boolean
  /** Folder of the mirror. */
  readonly mirrorRoot: string
  /** Whether every window that it returned is a file of the mirror. */
  readonly isStored: boolean
  /** Number of requests so far, with those for lists and retries, and bytes of bodies as received over the wire. */
  readonly traffic: { readonly requests: number; readonly bytes: number }
  /** When the first candle opens that is known of a series, ms UTC. No request is sent. */
  first(series: Series): number | undefined
  /** When the newest candle opens that the mirror has or had of a series, ms UTC. */
  newest(series: Series): number | undefined
  /** What to do about windows that could not be downloaded or read: one sentence. */
  readonly advice: string
}

/** What a source has: what a plan is made of. */
export interface SourceContents {
  /** The present, ms UTC, by the clock that decides which windows have started. */
  currentTime(): Promise<number>
  /** The series of a selection in a range; `all` is what this source has. Throws `unknown_symbol`. */
  series(selection: Selection, range: TimeRange): Promise<Series[]>
  /** Whether the source has candles of a series: any, for a service; those with cached windows, for a mirror alone. */
  hasSeries(series: Series): boolean
  /** The start dates that exist for an interval, ascending. Throws `incomplete` for a list that lacks some. */
  startDates(interval: Interval): Promise<string[]>
  /** The start dates of a series' cached windows, ascending: they exist whatever a list says. */
  cachedStartDates(series: Series): string[]
  /** No window that starts after this is needed, ms UTC. `toTime`: end of the range, infinite for an open one. */
  neededUntil(series: Series, toTime: number): number
  /** Open time of a symbol's first 3d candle, ms UTC: the anchor of its 3d grid. */
  threeDayAnchor(symbol: SymbolName): Promise<number | undefined>
}

/** What requests a plan takes. None of these methods sends one. */
export interface SourceCosts {
  /** What is cached of a window: only `cached` ones need no request. */
  cacheState(window: WindowRef): CacheState
  /** What a window of a series takes when it needs a request. */
  windowCost(series: Series): RequestCost
  /**
   * How much of the time of a run these windows of a series take by the limits of the service, ms, by their startDate: those that
   * are to be requested, and none without limits.
   */
  limitsMs(series: Series, windows: readonly WindowRef[]): ReadonlyMap<string, number>
}

/** Where windows come from: the service through a mirror, or a mirror alone. */
export interface WindowSource {
  readonly info: SourceInfo
  readonly contents: SourceContents
  readonly costs: SourceCosts
  /** Reads or downloads a window. Throws only what ends the run: `unreachable`, `rate_limited`, `mirror_unusable`, an abort. */
  window(window: WindowRef): Promise<WindowResult | WindowFailure>
  /**
   * The same for a window that needs no request: any one of a mirror alone, or one that `window` returned before. The batch is
   * valid until the next call.
   */
  cachedWindow(window: WindowRef): Promise<WindowResult | WindowFailure>
  /** The status of a window that was counted before; undefined when it needs a request. Its file is not read. */
  statusWithoutReading(window: WindowRef, counted: KnownTotals): WindowStatus | undefined
  /** Whether a window, empty or not, is final in such a way that it lacks no candle. */
  hasAllCandles(window: WindowRef): boolean
  close(): Promise<void>
}

/** Called with what a user should know, each text once. */
export type Warn = (warning: string) => void
