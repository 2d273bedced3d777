import { setImmediate as breathe } from 'node:timers/promises'
import { pMapIterable } from 'p-map'
import type { WindowRef } from '../klines/series.js'
import { DEFAULT_CONCURRENCY } from './open-source.js'
import type { WindowFailure, WindowResult, WindowSource } from './window-source.js'

/** Windows after which the event loop gets a turn: held ones are read without it, and Ctrl-C must be heard. */
const TURN_EVERY = 32

type Results = AsyncGenerator<WindowResult | WindowFailure>

/** How a stream asks. */
export interface StreamOptions {
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

/**
 * The windows in the order given, at most `concurrency` under way and no more waiting for a slow consumer.
 * What cannot be had comes as a failure in its place.
 */
export function windowStream(
  source: WindowSource,
  windows: readonly WindowRef[],
  { concurrency, signal }: StreamOptions,
): Results {
  const limits = { concurrency, backpressure: 2 * concurrency }
  return withTurns(
    pMapIterable(windows, window => source.window(window), limits),
    signal,
  )
}

/**
 * The same for windows that need no request, one at a time: each batch is good until the next is asked for, and no memory
 * is used but that of one window.
 */
export function settledStream(
  source: WindowSource,
  windows: readonly WindowRef[],
  signal: AbortSignal | undefined,
): Results {
  const results = async function* () {
    for (const window of windows) yield await source.borrowedWindow(window)
  }
  return withTurns(results(), signal)
}

/** The windows in the order given, in the way that suits their source. */
export function streamOf(
  source: WindowSource,
  windows: readonly WindowRef[],
  { concurrency = DEFAULT_CONCURRENCY, signal }: Partial<StreamOptions>,
): Results {
  if (source.offline) return settledStream(source, windows, signal)
  return windowStream(source, windows, { concurrency, signal })
}

async function* withTurns(
  results: AsyncIterable<WindowResult | WindowFailure>,
  signal: AbortSignal | undefined,
): Results {
  let count = 0
  for await (const result of results) {
    if (++count % TURN_EVERY === 0) await breathe()
    signal?.throwIfAborted()
    yield result
  }
}
