import type { WindowRef } from '../candles/series.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'

/**
 * Where a window came from: `cached` in the mirror and final, `fetched` from the source, `revalidated` by it, `retained` because the new
 * version lacks candles or the source does not list the window any more.
 */
export type WindowStatus = 'cached' | 'fetched' | 'revalidated' | 'retained'

/** A window with its rows. */
export interface WindowResult {
  readonly window: WindowRef
  readonly status: WindowStatus
  readonly batch: KlineBatch
  /** Of its file. */
  readonly bytes: Uint8Array
  /** How a fetched window differs from the cached one; undefined when none was cached. */
  readonly change?: WindowDifference | undefined
}

/** How a new version of a window differs from the cached one. */
export interface WindowDifference {
  /** Open times of candles that were not cached, ms UTC. */
  readonly added: readonly number[]
  /** Changed cells, withdrawn candles, and candles that were added before the last cached one. */
  readonly cells: readonly ChangedCell[]
}

/** A window that could not be downloaded or read. `reason` does not repeat its name. */
export interface WindowFailure {
  readonly window: WindowRef
  readonly status: 'failed'
  readonly reason: string
  /** The source has no such file. */
  readonly isAbsent?: boolean
  /** The source did not answer in time. */
  readonly timedOut?: boolean
}

/** A window that the source does not have, nor any before it: there the series begins later. */
export interface AbsentWindow {
  readonly window: WindowRef
  readonly status: 'absent'
}

/** What became of a window. */
export type WindowOutcome = WindowResult | WindowFailure | AbsentWindow

/** The windows of a plan, in order. */
export type WindowStream = AsyncGenerator<WindowOutcome, undefined, undefined>
