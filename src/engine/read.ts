import { addLengths } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import { incomplete, NOT_CACHED, type WindowFailure } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { inTurns } from '../mirror/turns.js'
import { CandleGrid } from '../rows/candle-grid.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Resampler } from '../rows/resampler.js'
import { parseTargetInterval } from '../rows/target-interval.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { refresh } from './refresh.js'
import type { Tally } from './report.js'
import {
  isOnline,
  type Run,
  type SeriesPlan,
  type WindowOutcome,
  type WindowResult,
  type WindowStream,
  withoutAbsent,
} from './run.js'

/** Windows as a mirror has them, in order; missing and corrupt ones come as failures. Each batch is valid until the next one, or has memory of its own. */
export async function* readWindows(
  { mirror, signal }: Run,
  plans: readonly Pick<SeriesPlan, 'windows'>[],
  ownMemory = false,
): WindowStream {
  const kernel = ownMemory ? undefined : new Kernel()
  const all = plans.flatMap(({ windows }) => windows)
  for await (const window of inTurns(all, signal)) yield readWindow(mirror, window, kernel)
  return undefined
}

function readWindow(mirror: Mirror, window: WindowRef, kernel?: Kernel): WindowResult | WindowFailure {
  const read = mirror.read(window, kernel)
  if (read.state === 'cached') return { window, status: 'cached', batch: read.batch, bytes: read.bytes }
  const what = read.state === 'missing' ? NOT_CACHED : 'corrupt in the mirror'
  return { window, status: 'failed', reason: read.reason === undefined ? what : `${what}: ${read.reason}` }
}

export interface ReadOptions {
  /** Not resampled. */
  readonly asIs?: boolean
  /** Keep incomplete longer candles at either end. */
  readonly partial?: boolean | undefined
  /** Final windows are counted, and nobody needs their candles: those that the index knows do not come. */
  readonly countOnly?: boolean
  /** Go on with the candles behind a window that could not be had. */
  readonly afterFailure?: boolean
  readonly ownMemory?: boolean
  readonly series?: readonly SeriesPlan[]
}

/**
 * The series of a plan, each with its candles in its range: of a run with a source made current, else as the mirror has them. The candles
 * of a series are read before the next one comes. After a window that could not be had, the others are only counted.
 */
export async function* readPlan(
  run: Run,
  tally: Tally,
  options: ReadOptions = {},
): AsyncGenerator<readonly [SeriesPlan, AsyncGenerator<KlineBatch>]> {
  const { series = tally.plan.series } = options
  const windows = isOnline(run) ? refresh(run, series, options.countOnly) : readWindows(run, series, options.ownMemory)
  try {
    for (const one of series) {
      const candles = readCandles(windows, one, tally, options)
      const isLonger = one.resampleTo !== undefined && !options.asIs
      yield [one, isLonger ? resampled(candles, one, run, { tally, ...options }) : candles]
    }
  } finally {
    await windows.return(undefined)
  }
}

async function* readCandles(
  windows: WindowStream,
  plan: SeriesPlan,
  tally: Tally,
  { afterFailure }: ReadOptions,
): AsyncGenerator<KlineBatch> {
  const { fromTime, toTime } = plan.range
  for (const _ of plan.windows) {
    const result = (await windows.next()).value as WindowOutcome
    const cut = 'batch' in result ? { ...result, batch: result.batch.slice(fromTime, toTime) } : result
    tally.add(plan, cut)
    if ('batch' in cut && (afterFailure || !tally.hasFailed)) yield cut.batch
  }
}

async function* resampled(
  batches: AsyncGenerator<KlineBatch>,
  plan: SeriesPlan,
  run: Run,
  { tally, partial }: ReadOptions & { readonly tally: Tally },
): AsyncGenerator<KlineBatch> {
  const { series, resampleTo, windows } = plan
  if (resampleTo === undefined) return
  let resampler: Resampler | undefined
  let lastOpenTime: number | undefined
  for await (const batch of batches) {
    if (resampler === undefined) {
      // Which windows are absent is known when the first one comes that is there.
      const coveredFrom = windowSpan(withoutAbsent(plan, run).windows[0]).startTime
      resampler = new Resampler(series, resampleTo, { range: tally.plan.range, partial, coveredFrom })
    }
    lastOpenTime = batch.lastOpenTime ?? lastOpenTime
    const candles = resampler.add(batch)
    if (candles) yield candles
  }
  if (tally.hasFailed) return
  const last = resampler?.end(await completeUntil(run, windows, lastOpenTime))
  if (last) yield last
}

/**
 * Until when an exchange surely has no candle after the last one that was read, ms UTC: the windows of a delisted symbol are final and
 * empty. -Infinity where nobody knows.
 */
export async function completeUntil(
  { mirror, signal }: Run,
  windows: readonly WindowRef[],
  lastOpenTime = Infinity,
): Promise<number> {
  let until = -Infinity
  if (mirror.rules.kind !== 'exchange') return until
  const later = windows.filter(one => windowSpan(one).endTime > lastOpenTime)
  for await (const window of inTurns(later, signal)) {
    const read = mirror.read(window)
    if (read.state !== 'cached' || mirror.state(window, read, mirror.factsOf(window, read)) !== 'final') break
    until = windowSpan(window).endTime
  }
  return until
}

/**
 * A series of a plan with the windows and the range of its last `count` candles: it takes the last windows that can hold so many, and twice
 * as many again while they hold fewer, as after a symbol was delisted.
 */
export async function cutToTail(run: Run, plan: SeriesPlan, count: number, forExport = true): Promise<SeriesPlan> {
  const { series, resampleTo, range } = plan
  // One more candle before them tells that they are whole.
  const { length } = resampleTo ?? parseTargetInterval(series.interval)
  const begin = addLengths(length, Math.min(range.toTime, run.now()), -(count + 1))
  const needed = plan.windows.filter(window => windowSpan(window).endTime > begin).length
  for (let taken = Math.max(1, needed); ; taken *= 2) {
    const tail = { ...plan, windows: plan.windows.slice(-taken) }
    const total = tail.windows.length
    const isAll = total === plan.windows.length
    const absent: WindowFailure[] = []
    // Those of the round before are not requested again.
    for await (const result of isOnline(run) ? refresh(run, [tail], true) : []) {
      if (result.status !== 'failed') continue
      if (!result.isAbsent) throw incomplete([result], total, { offline: false, forExport })
      absent.push(result)
    }
    // Older windows say whether the source ends before these.
    if (range.toTime === Infinity && absent.length === total && !isAll) continue
    if (absent.length > 0) throw incomplete(absent, total, { offline: false, forExport })
    const there = withoutAbsent(tail, run)
    const fromTime = await findStart(run, there, count, forExport)
    if (fromTime !== undefined) return { ...there, range: { ...range, fromTime } }
    if (isAll) return there
  }
}

/** When the first of the last `count` candles opens, if there is one more before it, ms UTC. */
async function findStart(
  { mirror, signal }: Run,
  { range, windows, resampleTo, series }: SeriesPlan,
  count: number,
  forExport: boolean,
): Promise<number | undefined> {
  const grid = resampleTo && new CandleGrid(resampleTo, series.symbol)
  const kernel = new Kernel()
  // The last longer candle may be left out as incomplete.
  let left = resampleTo ? count + 1 : count
  let fromTime = Infinity
  for await (const window of inTurns(windows.toReversed(), signal)) {
    const read = readWindow(mirror, window, kernel)
    if (read.status === 'failed') throw incomplete([read], windows.length, { offline: true, forExport })
    const batch = read.batch.slice(range.fromTime, range.toTime)
    for (let row = batch.length - 1; row >= 0; row--) {
      const time = batch.openTime(row)
      // An earlier part of the same longer candle.
      if (time >= fromTime) continue
      if (left === 0) return fromTime
      fromTime = grid?.start(time) ?? time
      left--
    }
  }
  return undefined
}
