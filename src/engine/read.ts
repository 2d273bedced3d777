import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Resampler } from '../rows/resampler.js'
import { Kernel } from '../rows/wasm/kernel.js'
import type { WindowFailure, WindowOutcome, WindowResult, WindowStream } from './outcome.js'
import { refresh, WINDOWS_A_TURN } from './refresh.js'
import type { Tally } from './report.js'
import type { Run } from './run.js'
import type { SeriesPlan } from './series-plan.js'

/** A window that is in no mirror. */
export const NOT_CACHED = 'not in the mirror'

/**
 * The windows of some series in order: of a run with a source made current, else as the mirror has them. Each batch is valid until the next
 * one, unless `ownMemory`.
 */
export function openWindows(run: Run, plans: readonly SeriesPlan[], { ownMemory = false } = {}): WindowStream {
  return run.source ? refresh({ ...run, source: run.source }, plans) : readWindows(run, plans, ownMemory)
}

/** Windows as a mirror has them, in order. Each batch is valid until the next one, unless it has memory of its own. Missing and corrupt ones come as failures. */
export async function* readWindows(
  { mirror, signal }: Pick<Run, 'mirror' | 'signal'>,
  plans: readonly Pick<SeriesPlan, 'windows'>[],
  ownMemory = false,
): WindowStream {
  const kernel = ownMemory ? undefined : new Kernel()
  let done = 0
  for (const { windows } of plans) {
    for (const window of windows) {
      if (++done % WINDOWS_A_TURN === 0) await nextTurn()
      signal.throwIfAborted()
      yield readWindow(mirror, window, kernel)
    }
  }
  return undefined
}

/** A window as a mirror has it, in memory of its own or in that of a kernel. */
export function readWindow(mirror: Mirror, window: WindowRef, kernel?: Kernel): WindowResult | WindowFailure {
  const read = mirror.read(window, kernel)
  if (read.state === 'cached') return { window, status: 'cached', batch: read.batch, bytes: read.bytes }
  const reason = read.state === 'missing' ? NOT_CACHED : `corrupt in the mirror: ${read.reason}`
  return { window, status: 'failed', reason }
}

/**
 * The candles of a series of a plan in its range, as they are, and counts them. `windows`: a stream in which its windows are next. After
 * a window that could not be had, the others are only counted, unless `afterFailure`. A batch is valid until the next one.
 */
export async function* readCandles(
  windows: WindowStream,
  plan: SeriesPlan,
  tally: Tally,
  { afterFailure = false } = {},
): AsyncGenerator<KlineBatch> {
  const { fromTime, toTime } = plan.range
  for (const _ of plan.windows) {
    const result = await nextWindow(windows)
    if (result.status === 'failed' || result.status === 'absent') tally.add(plan, result)
    else {
      const batch = result.batch.slice(fromTime, toTime)
      tally.add(plan, { ...result, batch })
      if (afterFailure || !tally.hasFailed) yield batch
    }
  }
}

/** The same as the plan wants them: longer candles, if it resamples. `partial`: keep incomplete candles at either end. */
export async function* readSeries(
  windows: WindowStream,
  plan: SeriesPlan,
  tally: Tally,
  { mirror, partial }: { readonly mirror: Mirror; readonly partial?: boolean | undefined },
): AsyncGenerator<KlineBatch> {
  const { resampleTo, series } = plan
  const batches = readCandles(windows, plan, tally)
  if (resampleTo === undefined) return yield* batches
  const [first] = plan.windows
  const coveredFrom = first && windowSpan(first).startTime
  const resampler = new Resampler(series, resampleTo, { range: tally.plan.range, partial, coveredFrom })
  let lastOpenTime: number | undefined
  for await (const batch of batches) {
    lastOpenTime = batch.lastOpenTime ?? lastOpenTime
    const candles = resampler.add(batch)
    if (candles) yield candles
  }
  const last = tally.hasFailed ? undefined : resampler.end(completeUntil(mirror, plan.windows, lastOpenTime))
  if (last) yield last
}

/** The next window of a stream. Throws when there is none. */
export async function nextWindow(stream: WindowStream): Promise<WindowOutcome> {
  const { value } = await stream.next()
  if (value === undefined) throw new Error('The stream has no further window.')
  return value
}

/**
 * Until when an exchange surely has no candle after the last one that was read, ms UTC: the windows of a delisted symbol are final and
 * empty. -Infinity where nobody knows. `windows` ascend.
 */
export function completeUntil(mirror: Mirror, windows: readonly WindowRef[], lastOpenTime = Infinity): number {
  let until = Number.NEGATIVE_INFINITY
  if (mirror.rules.kind !== 'exchange') return until
  for (const window of windows.filter(one => windowSpan(one).endTime > lastOpenTime)) {
    if (mirror.state(window, mirror.read(window)) !== 'final') break
    until = windowSpan(window).endTime
  }
  return until
}
