import { KlinesError } from '../candles/errors.js'
import { nextOpenTime } from '../candles/intervals.js'
import type { SelectionRequest } from '../candles/selection.js'
import { seriesName, windowName } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import type { RangeText } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { writeFiles } from '../engine/output-file.js'
import { checkOutputs } from '../engine/output-names.js'
import { planRequest } from '../engine/plan.js'
import { readWindows } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import {
  openRun,
  type Plan,
  type Run,
  type SeriesPlan,
  type SourceOptions,
  type WindowStream,
  withRun,
} from '../engine/run.js'
import { isStdout } from '../fs/links.js'
import { joinNames } from '../mirror/errors.js'
import { SETTLING_MS } from '../mirror/window-state.js'
import { shortSentences } from '../rows/coverage.js'
import { Fingerprinter, reportFingerprints } from '../rows/fingerprint.js'
import { encodeLock, endOfLock, type LockedSeries } from './lock-file.js'

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
export type LockReport = Awaited<ReturnType<typeof lockKlines>>

/**
 * Writes which candles of the mirror a result rests on: a fingerprint of each series, up to its first candle that can still change. Final
 * are the candles of final windows, and those that ended a day or more before their window was rendered. No request is sent. Throws what
 * `fingerprintKlines` throws, and `no_candles` when none is final.
 *
 * @example
 * const { series } = await lockKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024' })
 */
export async function lockKlines(request: LockRequest) {
  const { output = 'klines.lock.json' } = request
  const path = isStdout(output) ? '-' : output
  await checkOutputs([{ path }])
  return withRun(openRun({ ...request, offline: true }), async run => {
    const { mirror } = run
    const lock = { source: mirror.source ?? null, series: await lockAll(await planRequest(request, run), run) }
    await writeFiles([{ path, bytes: encodeLock(lock) }], request)
    return { ...reportFingerprints(lock.series), path, baseUrl: lock.source, mirror: mirror.root }
  })
}

async function lockAll(plan: Plan, run: Run): Promise<LockedSeries[]> {
  const tally = new Tally(plan, run)
  const windows = readWindows(run, plan.series)
  const reasons = new Set<string>()
  const empty: string[] = []
  const all: LockedSeries[] = []
  for (const one of plan.series) {
    const { locked, reason } = await lockSeries(windows, one, tally, run)
    if (reason !== undefined) reasons.add(reason)
    if (locked) all.push(locked)
    else empty.push(seriesName(one.series))
  }
  const { series, range } = await tally.report()
  if (all.length === 0) {
    const message = `No candle of ${joinNames(empty)} in the range is final; nothing is written.`
    throw new KlinesError('no_candles', message, { suggestions: [...reasons] })
  }
  for (const reason of reasons) run.warn(reason)
  for (const sentence of shortSentences(series, range)) run.warn(sentence, true)
  if (empty.length > 0) run.warn(`Not locked, without a final candle in the range: ${joinNames(empty)}.`)
  return all
}

/** The candles of a series up to the first one that can still change; `reason`: why older ones than usual can. */
async function lockSeries(windows: WindowStream, plan: SeriesPlan, tally: Tally, { mirror }: Run) {
  const { interval } = plan.series
  const { range } = tally.plan
  const fingerprinter = new Fingerprinter(plan.label)
  let nextTime = Infinity
  let isOver = false
  let reason: string | undefined
  for (const window of plan.windows) {
    const { value: result } = await windows.next()
    if (isOver || result === undefined) continue
    const isThere = 'batch' in result
    tally.add(plan, isThere ? { ...result, batch: result.batch.slice(range.fromTime, range.toTime) } : result)
    if (!isThere) continue
    const { batch, bytes } = result
    const facts = mirror.factsOf(window, { bytes })
    const rendered = facts?.rendered ?? -Infinity
    const finalUntil = mirror.state(window, { batch }, facts) === 'final' ? Infinity : rendered - SETTLING_MS
    const endTime = Math.min(windowSpan(window).endTime, range.toTime)
    // An open window that was rendered a day after its end has no candle that may change, and later ones are behind it.
    isOver = finalUntil < endTime
    let rows = batch.length
    while (rows > 0 && nextOpenTime(interval, batch.openTime(rows - 1)) > finalUntil) rows--
    if (rows < batch.length) nextTime = batch.openTime(rows)
    // What was rendered before the candles were old enough is downloaded again in a later run anyway.
    const needed = endTime + SETTLING_MS
    if (isOver && rendered === -Infinity)
      reason = `${windowName(window)} is not as the index of the mirror has it, so nobody knows when it was rendered: klines download confirms it.`
    else if (isOver && needed + SETTLING_MS <= range.now)
      reason = `${windowName(window)} was rendered at ${formatTime(rendered)} UTC, and candles are final a day after their end: klines download gets a later version.`
    fingerprinter.add(batch.rows(0, rows).slice(range.fromTime, range.toTime))
  }
  const fingerprint = fingerprinter.finish()
  if (fingerprint === undefined) return { reason }
  const { firstOpenTime: from, lastOpenTime } = fingerprint
  const to = Math.min(nextTime, endOfLock(interval, lastOpenTime, range.toTime))
  return { locked: { ...fingerprint, interval, range: { from, to } }, reason }
}
