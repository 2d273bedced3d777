import { stat } from 'node:fs/promises'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import { seriesName, type WindowRef, windowName } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import type { RangeText, RequestedRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { incomplete, joinNames } from '../engine/errors.js'
import type { EventOptions } from '../engine/events.js'
import type { WindowFailure, WindowResult } from '../engine/outcome.js'
import { commitOutputs } from '../engine/output/commit.js'
import { openOutput } from '../engine/output/open.js'
import { checkOutputs } from '../engine/output/output-spec.js'
import { planRequest } from '../engine/plan.js'
import { readWindows } from '../engine/read.js'
import { openRun, type Run, type SourceOptions, withRun } from '../engine/run.js'
import type { SelectionRequest } from '../engine/selection.js'
import type { SeriesPlan } from '../engine/series-plan.js'
import { SETTLING_MS } from '../mirror/window-state.js'
import { Fingerprinter } from '../rows/fingerprint.js'
import { encodeLock, LOCK_NAME, type Lock, type LockedSeries, readLock } from './lock-file.js'

/** Which candles of a mirror to lock, and the file to write. */
export interface LockRequest
  extends SelectionRequest,
    RangeText,
    EventOptions,
    Pick<SourceOptions, 'baseUrl' | 'mirror' | 'signal' | 'now'> {
  /** The file. Default: `klines.lock.json`; `-` for stdout. */
  readonly output?: string | undefined
  /** Replace an existing file. */
  readonly force?: boolean | undefined
}

/** A lock that was written. */
export interface LockReport extends Lock {
  /** The file. */
  readonly path: string
  /** Folder of the mirror. */
  readonly mirror: string
  /** The lock that it replaced, if there was one. */
  readonly replaced: Lock | undefined
}

/**
 * Writes which candles of the mirror a result rests on: a fingerprint of each series, of the candles that can no longer change. These are
 * the candles of final windows, and those that ended a day or more before their window was rendered; a series ends before its first
 * candle that is neither. No request is sent. Throws what `fingerprintKlines` throws, and `no_candles` when none is final.
 *
 * @example
 * const { series } = await lockKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024' })
 */
export async function lockKlines(request: LockRequest): Promise<LockReport> {
  const path = request.output ?? LOCK_NAME
  await checkOutputs([{ path }], request)
  return withRun(openRun({ ...request, offline: true }), async run => {
    const { range, series: plans } = await planRequest(request, run)
    const lock = { source: run.mirror.source ?? null, series: await lockAll(plans, range, run) }
    return { ...lock, path, mirror: run.mirror.root, replaced: await writeLock(path, lock, request, run.warn) }
  })
}

/** Writes a lock whole, or leaves what was there. Returns the lock that it replaces, if there is one. */
async function writeLock(
  path: string,
  lock: Lock,
  { force, signal }: LockRequest,
  warn: Run['warn'],
): Promise<Lock | undefined> {
  const bytes = encodeLock(lock)
  const isFile = path !== '-' && (await stat(path).catch(() => undefined))?.isFile()
  const replaced = isFile ? await readReplaced(path, warn) : undefined
  const output = await openOutput(path, false, { force, signal })
  try {
    await output.write(bytes)
    await output.finish()
    await commitOutputs([output])
  } catch (error) {
    await output.discard()
    throw error
  }
  return replaced
}

async function readReplaced(path: string, warn: Run['warn']): Promise<Lock | undefined> {
  try {
    return await readLock(path)
  } catch (error) {
    if (!isKlinesError(error, 'bad_input')) throw error
    warn(`What was replaced is no lock that this version reads. ${error.message}`)
    return undefined
  }
}

async function lockAll(plans: readonly SeriesPlan[], range: RequestedRange, run: Run): Promise<LockedSeries[]> {
  const total = plans.reduce((sum, { windows }) => sum + windows.length, 0)
  let done = 0
  const locked: (LockedSeries | undefined)[] = []
  const failures: WindowFailure[] = []
  const reasons: string[] = []
  for (const plan of plans) {
    const one = new SeriesLock(plan, range, run)
    const end = done + plan.windows.length
    for await (const result of readWindows(run, [plan])) {
      run.emit({ type: 'progress', done: ++done, total })
      if (result.status === 'failed') failures.push(result)
      else if (result.status !== 'absent' && !one.add(result)) break
    }
    done = end
    locked.push(one.finish())
    if (one.reason !== undefined) reasons.push(one.reason)
  }
  run.emit({ type: 'progress', done, total })
  if (failures.length > 0) throw incomplete(failures, total, { offline: true })
  const empty = plans.filter((_, index) => locked[index] === undefined).map(({ series }) => seriesName(series))
  if (empty.length === plans.length) {
    const message = `No candle of ${joinNames(empty)} in the range is final; nothing is written.`
    throw new KlinesError('no_candles', message, { suggestions: [...new Set(reasons)] })
  }
  for (const reason of reasons) run.warn(reason)
  if (empty.length > 0) run.warn(`Not locked, without a final candle in the range: ${joinNames(empty)}.`)
  return locked.flatMap(one => one ?? [])
}

/** Collects the candles of a series up to the first one that can still change. */
class SeriesLock {
  /** Why the series ends before the end of the range, as one sentence; undefined where its newest candles are too young. */
  reason: string | undefined
  private readonly fingerprinter: Fingerprinter
  /** When the first candle opens that can still change, ms UTC. */
  private nextTime = Infinity

  constructor(
    private readonly plan: SeriesPlan,
    private readonly range: RequestedRange,
    private readonly run: Run,
  ) {
    this.fingerprinter = new Fingerprinter(plan.series)
  }

  /** Adds the next window. Returns whether the one after it may be locked too. */
  add({ window, batch, bytes }: WindowResult): boolean {
    const { interval } = this.plan.series
    const { mirror } = this.run
    const { fromTime, toTime } = this.range
    const cached = { state: 'cached', batch, bytes } as const
    const isFinal = mirror.state(window, cached) === 'final'
    const rendered = mirror.factsOf(window, cached)?.rendered
    const finalUntil = isFinal ? Infinity : (rendered ?? Number.NEGATIVE_INFINITY) - SETTLING_MS
    let rows = batch.length
    while (rows > 0 && nextOpenTime(interval, batch.openTime(rows - 1)) > finalUntil) rows--
    if (rows < batch.length) this.nextTime = batch.openTime(rows)
    this.fingerprinter.add(batch.rows(0, rows).slice(fromTime, toTime))
    if (!isFinal) this.reason = this.explain(window, rendered)
    return isFinal
  }

  /** What can be done about candles that are old enough; undefined if time will do. */
  private explain(window: WindowRef, rendered: number | undefined): string | undefined {
    const name = windowName(window)
    if (rendered === undefined)
      return `${name} is not as the index of the mirror has it, so nobody knows when it was rendered: klines download confirms it.`
    const end = Math.min(windowSpan(window).endTime, this.range.toTime)
    // What was rendered before the candles were old enough is downloaded again in a later run anyway.
    if (end + 2 * SETTLING_MS > this.range.now || rendered >= end + SETTLING_MS) return undefined
    return `${name} was rendered at ${formatTime(rendered)} UTC, and candles are final a day after their end: klines download gets a later version.`
  }

  finish(): LockedSeries | undefined {
    const found = this.fingerprinter.finish()
    if (found === undefined) return undefined
    const { interval } = this.plan.series
    const { firstOpenTime, lastOpenTime } = found
    // Beside a candle off the grid, the next one may open before this one should end.
    const bound = mayBeOffGrid(lastOpenTime) ? this.range.toTime : Infinity
    const to = Math.min(nextOpenTime(interval, lastOpenTime), this.nextTime, bound)
    return { ...found, interval, range: { from: firstOpenTime, to } }
  }
}
