import { setImmediate as nextTurn } from 'node:timers/promises'
import { pMapIterable } from 'p-map'
import type { WindowRef } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { DEFAULT_CONCURRENCY } from './sources/open-source.js'
import type { SourceOptions } from './sources/source-options.js'
import type { WindowFailure, WindowResult, WindowSource } from './sources/window-source.js'

/** Number of windows after which the event loop gets a turn. Cached ones are read without it, and Ctrl-C must be noticed. */
const WINDOWS_A_TURN = 32

/** Windows to read, and the open times of their candles to keep. */
export interface WindowRun {
  readonly windows: readonly WindowRef[]
  readonly range: TimeRange
}

/** Windows as they come. */
export type WindowStream<Run> = AsyncGenerator<StreamedWindow<Run>, undefined, undefined>

/** A window of a run. Its batch has only the candles of the run's range. */
interface StreamedWindow<Run> {
  readonly run: Run
  readonly result: WindowResult | WindowFailure
}

/**
 * The windows of all runs in order, downloaded where that is needed: at most `concurrency` at once, and no more waiting for a slow
 * consumer. A window that could not be downloaded comes as a failure in its place.
 */
export function streamWindows<Run extends WindowRun>(
  source: WindowSource,
  runs: readonly Run[],
  { concurrency = DEFAULT_CONCURRENCY, signal }: Pick<SourceOptions, 'concurrency' | 'signal'>,
): WindowStream<Run> {
  const limits = { concurrency, backpressure: 2 * concurrency }
  return inTurn(runs, windows => pMapIterable(windows, window => source.window(window), limits), signal)
}

/** The same for windows that need no request: each batch is valid until the next one. */
export function readWindows<Run extends WindowRun>(
  source: WindowSource,
  runs: readonly Run[],
  signal?: AbortSignal,
): WindowStream<Run> {
  const read = async function* (windows: readonly WindowRef[]) {
    for (const window of windows) yield await source.cachedWindow(window)
  }
  return inTurn(runs, read, signal)
}

async function* inTurn<Run extends WindowRun>(
  runs: readonly Run[],
  read: (windows: readonly WindowRef[]) => AsyncIterable<WindowResult | WindowFailure>,
  signal: AbortSignal | undefined,
): WindowStream<Run> {
  const windows = runs.flatMap(run => run.windows.map(window => ({ run, window })))
  let index = 0
  for await (const result of read(windows.map(({ window }) => window))) {
    const { run } = windows[index++]
    if (index % WINDOWS_A_TURN === 0) await nextTurn()
    signal?.throwIfAborted()
    yield { run, result: sliceTo(run.range, result) }
  }
}

/** The next window of a stream. Throws when there is none. */
export async function nextWindow(stream: WindowStream<unknown>): Promise<WindowResult | WindowFailure> {
  const { value } = await stream.next()
  if (value === undefined) throw new Error('The stream has no further window.')
  return value.result
}

function sliceTo({ fromTime, toTime }: TimeRange, result: WindowResult | WindowFailure): WindowResult | WindowFailure {
  return result.status === 'failed' ? result : { ...result, batch: result.batch.slice(fromTime, toTime) }
}
