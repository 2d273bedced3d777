import { statSync } from 'node:fs'
import { KlinesError } from '../candles/errors.js'
import { mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import { seriesName, windowName } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import type { RangeText } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { writeFiles } from '../engine/output-file.js'
import { checkOutputs } from '../engine/output-names.js'
import { planRequest } from '../engine/plan.js'
import { readWindows } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import { openRun, type Run, type SourceOptions, withRun } from '../engine/run.js'
import type { SelectionRequest } from '../engine/selection.js'
import type { Plan, SeriesPlan, WindowStream } from '../engine/windows.js'
import { joinNames } from '../mirror/errors.js'
import { SETTLING_MS } from '../mirror/window-state.js'
import { Fingerprinter, type SeriesFingerprint } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { encodeLock, type Lock, type LockedSeries, readLock } from './lock-file.js'

/** Which candles of a mirror to lock, and the file to write. */
export interface LockRequest
  extends SelectionRequest,
    RangeText,
    Pick<SourceOptions, 'baseUrl' | 'mirror' | 'signal' | 'now' | 'onEvent'> {
  /** The file. Default: `klines.lock.json`; `-` for stdout. */
  readonly output?: string | undefined
  readonly force?: boolean | undefined
}

/** A lock that was written. */
export interface LockReport extends Lock {
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
  const path = request.output ?? 'klines.lock.json'
  await checkOutputs([{ path }], request)
  return withRun(openRun({ ...request, offline: true }), async run => {
    const series = await lockAll(await planRequest(request, run), run)
    const lock = { source: run.mirror.source ?? null, series }
    const isFile = path !== '-' && statSync(path, { throwIfNoEntry: false })?.isFile()
    const replaced = isFile ? await readReplaced(path, run.warn) : undefined
    await writeFiles([{ path, bytes: encodeLock(lock) }], request)
    return { ...lock, path, mirror: run.mirror.root, replaced }
  })
}

function readReplaced(path: string, warn: Run['warn']): Promise<Lock | undefined> {
  const note = ({ message }: Error) => warn(`What was replaced is no lock that this version reads. ${message}`)
  return readLock(path).catch(note) as Promise<Lock | undefined>
}

/** Throws `incomplete`, and `no_candles` when no candle is final. */
async function lockAll(plan: Plan, run: Run): Promise<LockedSeries[]> {
  const { series: plans, range } = plan
  const tally = new Tally(plan, run)
  const ends = plans.map((): SeriesEnd => ({ nextTime: Infinity }))
  const windows = readWindows(run, plans)
  const found: (SeriesFingerprint | undefined)[] = []
  for (const [index, one] of plans.entries()) {
    const fingerprinter = new Fingerprinter(one.label)
    for await (const batch of finalCandles(windows, one, ends[index], tally, run)) fingerprinter.add(batch)
    found.push(fingerprinter.finish())
  }
  tally.report()
  const reasons = ends.flatMap(({ reason }) => reason ?? [])
  const empty = plans.filter((_, index) => found[index] === undefined).map(({ series }) => seriesName(series))
  if (empty.length === plans.length) {
    const message = `No candle of ${joinNames(empty)} in the range is final; nothing is written.`
    throw new KlinesError('no_candles', message, { suggestions: [...new Set(reasons)] })
  }
  for (const reason of reasons) run.warn(reason)
  if (empty.length > 0) run.warn(`Not locked, without a final candle in the range: ${joinNames(empty)}.`)
  return plans.flatMap(({ series: { interval } }, index) => {
    const fingerprint = found[index]
    if (fingerprint === undefined) return []
    const { firstOpenTime: from, lastOpenTime } = fingerprint
    // Beside a candle off the grid, the next one may open before this one should end.
    const bound = mayBeOffGrid(lastOpenTime) ? range.toTime : Infinity
    const to = Math.min(nextOpenTime(interval, lastOpenTime), ends[index].nextTime, bound)
    return { ...fingerprint, interval, range: { from, to } }
  })
}

/**
 * Where the locked candles of a series end: when the first candle opens that can still change (ms UTC, infinite without one), and why
 * that is before the end of the range; undefined where the newest candles are too young.
 */
type SeriesEnd = { nextTime: number; reason?: string }

/** The candles of a series up to the first one that can still change. */
async function* finalCandles(
  windows: WindowStream,
  plan: SeriesPlan,
  end: SeriesEnd,
  tally: Tally,
  { mirror }: Run,
): AsyncGenerator<KlineBatch> {
  const { range } = tally.plan
  let isOver = false
  for (const window of plan.windows) {
    const { value: result } = await windows.next()
    if (isOver || result === undefined) continue
    tally.add(plan, result)
    if (result.status === 'failed' || result.status === 'absent') continue
    const { batch, bytes } = result
    const cached = { state: 'cached', batch, bytes } as const
    isOver = mirror.state(window, cached) !== 'final'
    const rendered = mirror.factsOf(window, cached)?.rendered ?? Number.NEGATIVE_INFINITY
    const finalUntil = isOver ? rendered - SETTLING_MS : Infinity
    let rows = batch.length
    while (rows > 0 && nextOpenTime(window.interval, batch.openTime(rows - 1)) > finalUntil) rows--
    if (rows < batch.length) end.nextTime = batch.openTime(rows)
    // What was rendered before the candles were old enough is downloaded again in a later run anyway.
    const needed = Math.min(windowSpan(window).endTime, range.toTime) + SETTLING_MS
    if (isOver && rendered === -Infinity)
      end.reason = `${windowName(window)} is not as the index of the mirror has it, so nobody knows when it was rendered: klines download confirms it.`
    else if (isOver && rendered < needed && needed + SETTLING_MS <= range.now)
      end.reason = `${windowName(window)} was rendered at ${formatTime(rendered)} UTC, and candles are final a day after their end: klines download gets a later version.`
    yield batch.rows(0, rows).slice(range.fromTime, range.toTime)
  }
}
