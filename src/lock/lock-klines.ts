import { incomplete, joinNames } from '../download/errors.js'
import { toWarn } from '../download/events.js'
import { planSeries, type SeriesPlan } from '../download/plan.js'
import { checkRange, requestRange } from '../download/request-range.js'
import { parseSelection, type SelectionRequest } from '../download/selection.js'
import { openMirror, openSource } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import type { WindowFailure, WindowResult, WindowSource } from '../download/sources/window-source.js'
import { readWindows } from '../download/window-stream.js'
import { Fingerprinter } from '../fingerprint/fingerprint.js'
import { systemClock } from '../http/system-clock.js'
import { mayBeOffGrid } from '../klines/candle-times.js'
import { KlinesError } from '../klines/errors.js'
import { nextOpenTime } from '../klines/intervals.js'
import { seriesName, type WindowRef, windowName } from '../klines/series.js'
import { formatTime } from '../klines/text.js'
import { ALL_TIME, type RangeText, type RequestedRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { LATE_MS, type WindowEnds } from '../trees/window-ends.js'
import type { Lock, LockedSeries } from './lock-file.js'
import { prepareLockFile } from './write-lock.js'

/** Which candles of a mirror to lock, and the file to write. */
export interface LockRequest
  extends SelectionRequest,
    RangeText,
    Pick<SourceOptions, 'baseUrl' | 'mirror' | 'signal' | 'onEvent'> {
  /** The file. Default: `klines.lock.json`; `-` for stdout. */
  readonly output?: string | undefined
  /** Replace an existing file. */
  readonly force?: boolean | undefined
  /**
   * The present, ms UTC. Default: the machine's clock.
   * @internal
   */
  readonly now?: number | undefined
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
 * Writes which candles of the mirror a result rests on: a fingerprint of each series, of the candles that can no longer change. A
 * series ends with its last one: a candle is final a day after its end, if its window was rendered (by the exchange: sent) then or
 * later. No request is sent. Throws what `fingerprintKlines` throws, `no_candles` when none is final, and for a folder without
 * `mirror.json`, of whose windows nobody knows when they were rendered, `bad_option` without `to`.
 *
 * @example
 * const { series } = await lockKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024' })
 */
export async function lockKlines(request: LockRequest): Promise<LockReport> {
  const selection = parseSelection(request)
  checkRange(request)
  const file = await prepareLockFile(request)
  const mirror = openMirror(request)
  const source = await openSource({ ...request, offline: true })
  try {
    const range = await requestRange(request, source)
    const isBare = mirror.upkeep.readMeta() === undefined
    if (isBare && mirror.files.exists && request.to === undefined) throw withoutTimes(mirror)
    const plans = await planSeries(
      source,
      (await source.contents.series(selection, range)).map(series => ({ series, range })),
    )
    const now = request.now ?? systemClock.now()
    const series = await lockAll(plans, range, source, { ...request, mirror: isBare ? undefined : mirror, now })
    const lock = { source: source.info.baseUrl ?? null, series }
    return { ...lock, path: file.path, mirror: mirror.root, replaced: await file.write(lock) }
  } finally {
    await source.close()
  }
}

function withoutTimes({ root }: Mirror): KlinesError {
  const message = `${root} has no mirror.json, so nobody knows when its windows were rendered, and which candles can still change.`
  return new KlinesError('bad_option', message, {
    suggestions: ['Name the end of the candles to lock with `to`, such as the start of this year.'],
  })
}

/** How series are locked. */
interface LockOptions extends Pick<LockRequest, 'signal' | 'onEvent'> {
  /** Undefined for a folder of which nobody knows when its windows were rendered. */
  readonly mirror: Mirror | undefined
  /** The present, ms UTC. */
  readonly now: number
}

async function lockAll(
  plans: readonly SeriesPlan[],
  range: RequestedRange,
  source: WindowSource,
  options: LockOptions,
): Promise<LockedSeries[]> {
  const total = plans.reduce((sum, { windows }) => sum + windows.length, 0)
  let done = 0
  const advance = (windows: number) => {
    done += windows
    options.onEvent?.({ type: 'progress', done, total })
  }
  const locked: (LockedSeries | undefined)[] = []
  const failures: WindowFailure[] = []
  const reasons: string[] = []
  for (const plan of plans) {
    const one = new SeriesLock(plan, range, options)
    const before = done
    for await (const { result } of readWindows(source, [{ ...plan, range: ALL_TIME }], options.signal)) {
      advance(1)
      if (result.status === 'failed') failures.push(result)
      else if (!one.add(result)) break
    }
    advance(before + plan.windows.length - done)
    locked.push(one.finish())
    if (one.reason !== undefined) reasons.push(one.reason)
  }
  if (failures.length > 0) throw incomplete(failures, total, source.info)
  const empty = plans.filter((_, index) => locked[index] === undefined).map(({ series }) => seriesName(series))
  if (empty.length === plans.length) {
    const message = `No candle of ${joinNames(empty)} in the range is final; nothing is written.`
    throw new KlinesError('no_candles', message, { suggestions: [...new Set(reasons)] })
  }
  const warn = toWarn(options)
  for (const reason of reasons) warn(reason)
  if (empty.length > 0) warn(`Not locked, without a final candle in the range: ${joinNames(empty)}.`)
  return locked.flatMap(one => one ?? [])
}

/** Collects the candles of a series up to the first one that can still change. */
class SeriesLock {
  /** Why the series ends before the end of the range, as one sentence; undefined where its newest candles are too young. */
  reason: string | undefined
  private readonly fingerprinter: Fingerprinter
  private hasBegun = false
  /** When the first candle opens that is not final, ms UTC. */
  private nextTime = Infinity

  constructor(
    private readonly plan: SeriesPlan,
    private readonly range: RequestedRange,
    private readonly options: LockOptions,
  ) {
    this.fingerprinter = new Fingerprinter(plan.series)
  }

  /** Adds the next window. Returns whether the one after it may be final. */
  add({ window, batch, file }: WindowResult): boolean {
    // Nothing before the first candle is locked, nor what an empty file says about it.
    if (batch.length === 0 && !this.hasBegun) return true
    this.hasBegun = true
    const { interval } = this.plan.series
    const { mirror, now } = this.options
    const { fromTime, toTime } = this.range
    // An empty window of the bundled sample has no file.
    if (file === undefined) return true
    const finalUntil = mirror === undefined ? now - LATE_MS : mirror.windows.finalUntil(window, file, batch, now)
    let rows = batch.length
    while (rows > 0 && nextOpenTime(interval, batch.openTime(rows - 1)) > finalUntil) rows--
    if (rows < batch.length) this.nextTime = batch.openTime(rows)
    this.fingerprinter.add(batch.rows(0, rows).slice(fromTime, toTime))
    // The last candle of a window may end after it.
    const isFinal = rows === batch.length && finalUntil >= Math.min(windowSpan(window).endTime, toTime)
    if (!isFinal) this.reason = this.explain(window, finalUntil, batch)
    return isFinal
  }

  /** What can be done about candles that are old enough; undefined if time will do. */
  private explain(window: WindowRef, finalUntil: number, ends: WindowEnds): string | undefined {
    const { mirror, now } = this.options
    if (mirror === undefined) return undefined
    const name = windowName(window)
    if (finalUntil === -Infinity)
      return `${name} is not as the record of the mirror has it, so nobody knows when it was rendered: klines download confirms it.`
    const end = Math.min(windowSpan(window).endTime, this.range.toTime)
    if (end + 2 * LATE_MS > now && finalUntil + 3 * LATE_MS > now) return undefined
    const advice = mirror.rules.isFilled(window, ends) ? 'klines download --refresh' : 'klines download'
    return `${name} was rendered at ${formatTime(finalUntil + LATE_MS)} UTC, and candles are final a day after their end: ${advice} gets a later version.`
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
