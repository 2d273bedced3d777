import type { WindowChange } from '../klines/batch/diff.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { Interval } from '../klines/intervals.js'
import type { Series, WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { Selection } from './selection.js'

/**
 * How a window was had: `held` in the mirror and final (or settled in this run), `fetched` anew, `unmodified` as the
 * service says, `kept` because the service's new version lost rows.
 */
export type WindowStatus = 'cached' | 'fetched' | 'revalidated' | 'retained'

/** A window that was had. */
export interface WindowResult {
  readonly window: WindowRef
  readonly status: WindowStatus
  readonly batch: KlineBatch
  /** How a fetched window differs from the one held before. */
  readonly change?: WindowChange | undefined
}

/** A window that could not be had; `reason` does not repeat its name. */
export interface WindowFailure {
  readonly window: WindowRef
  readonly status: 'failed'
  readonly reason: string
}

/** Where windows come from: the service through a mirror, or a mirror alone. */
export interface WindowSource {
  /** The base address the candles come from, as the mirror knows it; undefined for a bare tree. */
  readonly baseUrl: string | undefined
  /** Whether no window needs a request: all there is, is in the mirror. */
  readonly offline: boolean
  /** Where the mirror lies. */
  readonly mirrorRoot: string
  /** Requests made so far, lists and retries included, and bytes of bodies as they came over the wire. */
  readonly traffic: { readonly requests: number; readonly bytes: number }
  /** What to do about windows that could not be had, one sentence. */
  readonly advice: string
  /** The series that a selection means; `all` is what this source has. */
  series(selection: Selection): Promise<Series[]>
  /** The startDates that exist for an interval, ascending. */
  startDates(interval: Interval): Promise<string[]>
  /** No window that starts after this has to be there, ms UTC. `toTime`: where the range ends, if it does. */
  horizon(series: Series, toTime: number | undefined): number
  /** Whether candles of a series can be had at all: any, for a service; those that are held, for a mirror alone. */
  hasSeries(series: Series): boolean
  /** When the first 3d candle of a symbol opens that is held, ms UTC: its 3d grid. */
  threeDayAnchor(symbol: SymbolName): number | undefined
  /** What a window's state is, without asking anybody: `held` needs no request, `stale` and `absent` do. */
  state(window: WindowRef): 'cached' | 'stale' | 'missing'
  /** A window, or why not. Throws only what ends the run: `unreachable`, `rate_limited`, `mirror_unusable`, an abort. */
  window(window: WindowRef): Promise<WindowResult | WindowFailure>
  /**
   * The same for a window that needs no request (one that `window` gave before, or any one of a mirror alone), for a look:
   * the batch shares buffers with the next one and is good until that is asked for.
   */
  borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure>
  close(): Promise<void>
}

/** Called with what people should know; each text once. */
export type Warn = (warning: string) => void
