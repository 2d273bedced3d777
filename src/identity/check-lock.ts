import { KlinesError } from '../candles/errors.js'
import { DAY_MS } from '../candles/intervals.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import { formatRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { checkOrigin, planSeries } from '../engine/plan.js'
import { type DownloadReport, Tally } from '../engine/report.js'
import { openRun, type Run, type SourceOptions, withRun } from '../engine/run.js'
import type { Plan } from '../engine/windows.js'
import type { WindowFailure } from '../mirror/errors.js'
import type { ChangedCell } from '../rows/diff.js'
import type { SeriesFingerprint, YearDigest } from '../rows/fingerprint.js'
import { toSourceName } from '../sources/base-url.js'
import { fingerprintSeries } from './fingerprint.js'
import { type Lock, type LockedSeries, readLock } from './lock-file.js'

/** Which lock to check (a file), and where its candles are. */
export interface LockCheckRequest extends SourceOptions {
  readonly lock: string
  /** Check the mirror alone, without any request. Default: download what is missing or can still change first. */
  readonly offline?: boolean | undefined
}

/** The candles of a year in two versions of a series; undefined where there are none. */
export interface YearChange {
  readonly year: number
  readonly before: YearDigest | undefined
  readonly after: YearDigest | undefined
}

/** A locked series, and what its candles are here. */
export interface CheckedSeries extends SeriesLabel {
  readonly locked: LockedSeries
  /** Undefined without a candle in the locked range. */
  readonly found: SeriesFingerprint | undefined
  /** The years that differ. Nothing is known of years that may have candles in missing windows. */
  readonly years: readonly YearChange[]
  /** Windows of the range that are missing or corrupt. */
  readonly missing: readonly WindowFailure[]
}

/** Whether the candles of a lock are here. */
export interface LockCheck {
  readonly path: string
  readonly lock: Lock
  /** Folder of the mirror. */
  readonly mirror: string
  /** `incomplete`: no year differs, and windows are missing. */
  readonly verdict: 'equal' | 'different' | 'incomplete'
  readonly series: readonly CheckedSeries[]
  /** The cells of locked candles that this run saw change. */
  readonly restated: readonly (SeriesLabel & ChangedCell)[]
  /** How the windows were downloaded; undefined when nothing was, or there is no candle. */
  readonly download: DownloadReport | undefined
}

/**
 * Checks that the candles of a lock are exactly those of the mirror, after a download into it unless `offline`. Series, ranges and
 * source are those of the lock. Throws `bad_input` for what is no lock, `bad_option` for another source than its own, and what
 * `downloadKlines` throws: `incomplete` when a window could not be downloaded.
 *
 * @example
 * const { verdict, series } = await checkLock({ lock: 'klines.lock.json' })
 */
export async function checkLock(request: LockCheckRequest): Promise<LockCheck> {
  const lock = await readLock(request.lock)
  const baseUrl = findLockSource(lock, request)
  return withRun(openRun({ ...request, baseUrl }), async run => {
    const plan = await planLock(lock, request.lock, run)
    const tally = new Tally(plan, run)
    const fingerprints = await fingerprintSeries(run, tally, { afterFailure: true })
    const series = lock.series.map((locked, index): CheckedSeries => {
      const { symbol, interval } = locked
      const found = fingerprints[index]
      const missing = tally.failures.filter(({ window }) => seriesName(window) === seriesName(locked))
      const spans = missing.map(({ window }) => windowSpan(window))
      const years = compareYears(locked, found).filter(({ year }) =>
        spans.every(({ startTime, endTime }) => endTime <= Date.UTC(year, 0) || startTime >= Date.UTC(year + 1, 0)),
      )
      return { symbol, interval, locked, found, years, missing }
    })
    const restated = tally.reports.flatMap(({ symbol, interval, changes }, index) => {
      const { from, to } = lock.series[index].range
      const cells = changes.filter(({ openTime }) => openTime >= from && openTime < to)
      return cells.map(cell => ({ symbol, interval, ...cell }))
    })
    // Without a candle, the check says more than the tally.
    const isReported = run.source && (tally.failures.length > 0 || fingerprints.some(one => one !== undefined))
    const download = isReported ? tally.report() : undefined
    const isDifferent = series.some(({ years }) => years.length > 0)
    const verdict = isDifferent ? 'different' : tally.failures.length > 0 ? 'incomplete' : 'equal'
    return { path: request.lock, lock, mirror: run.mirror.root, verdict, series, restated, download }
  })
}

/** The years whose candles differ, ascending. */
function compareYears(before: SeriesFingerprint | undefined, after: SeriesFingerprint | undefined): YearChange[] {
  const [old, next] = [before, after].map(one => new Map(one?.years.map(digest => [digest.year, digest])))
  return [...new Set([...old.keys(), ...next.keys()])]
    .sort()
    .map(year => ({ year, before: old.get(year), after: next.get(year) }))
    .filter(({ before, after }) => before?.sha256 !== after?.sha256)
}

/** A series that differs between two locks; undefined in the one that lacks it. */
export type LockChange = ReturnType<typeof compareLocks>[number]

/** The series that differ between two locks, in order. */
export function compareLocks(before: Lock, after: Lock) {
  const [old, next] = [before, after].map(({ series }) => new Map(series.map(one => [seriesName(one), one])))
  const all = new Map([...old, ...next])
  return [...all.keys()].sort().flatMap(name => {
    const { symbol, interval } = all.get(name) as LockedSeries
    const [a, b] = [old.get(name), next.get(name)]
    if (a?.fingerprint === b?.fingerprint && a?.range.to === b?.range.to) return []
    return { symbol, interval, before: a, after: b, years: compareYears(a, b) }
  })
}

/**
 * The name of the source of a lock; undefined for that of a mirror. It needs no trust: what it sends has to match the fingerprints.
 * Throws `bad_option`.
 */
export function findLockSource({ source }: Lock, request: LockCheckRequest): string | undefined {
  const { lock, baseUrl, mirror, offline } = request
  const named = baseUrl === undefined ? undefined : toSourceName(baseUrl)
  if (source !== null && named !== undefined && named !== source) {
    throw new KlinesError('bad_option', `${lock} has candles of ${source}, and this run of ${named}.`, {
      suggestions: ['Leave --base-url out: the lock names its source.'],
    })
  }
  if (source !== null || named !== undefined || (offline && mirror !== undefined)) return named ?? source ?? undefined
  throw new KlinesError('bad_option', `${lock} does not say where its candles come from.`, {
    suggestions: [offline ? 'Name the folder that has them with --mirror.' : 'Name the address with --base-url.'],
  })
}

/** The series of a lock, each with its own range. Throws what the lists of the source throw. */
export async function planLock({ series }: Lock, path: string, run: Run): Promise<Plan> {
  const now = run.now()
  const early = series.find(({ lastOpenTime }) => lastOpenTime > now + DAY_MS)
  const future = early && `a candle of ${seriesName(early)} of ${formatTime(early.lastOpenTime)} UTC`
  if (future) throw new KlinesError('bad_input', `${path} has ${future}, which is in the future.`)
  const fromTime = Math.min(...series.map(({ range }) => range.from))
  const toTime = Math.max(...series.map(({ range }) => range.to))
  // No end is named: each series has its own.
  const open = { named: { from: undefined, to: undefined }, endMoves: false, now }
  const range = { fromTime, toTime, ...open, text: formatRange({ fromTime, toTime }) }
  const wanted = series.map(({ symbol, interval, range: { from, to } }) => {
    const series = { symbol, interval }
    return { series, label: series, range: { fromTime: from, toTime: to } }
  })
  await checkOrigin(run)
  return { range, series: await planSeries(wanted, range, run), gone: [] }
}
