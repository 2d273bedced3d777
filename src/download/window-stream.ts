import { setImmediate as nextTurn } from 'node:timers/promises'
import { pMapIterable } from 'p-map'
import type { WindowRef } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { DEFAULT_CONCURRENCY } from './sources/open-source.js'
import type { WindowFailure, WindowResult, WindowSource } from './sources/window-source.js'

/** Number of windows after which the event loop gets a turn. Cached ones are read without it, and Ctrl-C must be noticed. */
const WINDOWS_A_TURN = 32

/** Windows to read, and the open times of their candles to keep. */
export interface WindowRun {
  readonly windows: readonly WindowRef[]
  readonly range: TimeRange
}

/** A window of a run. Its batch has only the candles of the run's range. */
export interface StreamedWindow<Run> {
  readonly run: Run
  readonly result: WindowResult | WindowFailure
}

/** How windows are read. */
export interface StreamOptions {
  readonly concurrency?: number | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * Read one window at a time into the same memory: for windows that need no request. Each batch is valid until the next
   * one. Default: for a mirror alone.
   */
  readonly borrow?: boolean | undefined
}

/**
 * The windows of all runs in order, at most `concurrency` at once and no more waiting for a slow consumer. A window that could
 * not be downloaded comes as a failure in its place.
 */
export async function* streamWindows<Run extends WindowRun>(
  source: WindowSource,
  runs: readonly Run[],
  { concurrency = DEFAULT_CONCURRENCY, signal, borrow = source.info.offline }: StreamOptions,
): AsyncGenerator<StreamedWindow<Run>, undefined, undefined> {
  const windows = runs.flatMap(run => run.windows.map(window => ({ run, window })))
  const limits = { concurrency, backpressure: 2 * concurrency }
  const results = borrow
    ? borrowInTurn(source, windows)
    : pMapIterable(windows, ({ window }) => source.window(window), limits)
  let index = 0
  for await (const result of results) {
    const { run } = windows[index++]
    if (index % WINDOWS_A_TURN === 0) await nextTurn()
    signal?.throwIfAborted()
    yield { run, result: sliceTo(run.range, result) }
  }
}

async function* borrowInTurn(source: WindowSource, windows: readonly { readonly window: WindowRef }[]) {
  for (const { window } of windows) yield await source.borrowedWindow(window)
}

function sliceTo({ fromTime, toTime }: TimeRange, result: WindowResult | WindowFailure): WindowResult | WindowFailure {
  return result.status === 'failed' ? result : { ...result, batch: result.batch.slice(fromTime, toTime) }
}
