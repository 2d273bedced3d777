import { downloadSeries } from '../download/download.js'
import { type Plan, planSeries, type SeriesPlan } from '../download/plan.js'
import { openSource, type SourceOptions } from '../download/sources/open-source.js'
import type { WindowFailure, WindowSource } from '../download/sources/window-source.js'
import { type DownloadReport, DownloadTally, type Progress, type ProgressCallbacks } from '../download/tally.js'
import { readWindows } from '../download/window-stream.js'
import { Fingerprinter, type SeriesFingerprint } from '../fingerprint/fingerprint.js'
import { SAMPLE } from '../http/base-url.js'
import { systemClock } from '../http/system-clock.js'
import type { ChangedCell } from '../klines/batch/diff.js'
import { isKlinesError } from '../klines/errors.js'
import type { SeriesLabel } from '../klines/series.js'
import { parseRequestedRange, type RequestedRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import { compareYears, type YearChange } from './compare.js'
import { type Lock, type LockedSeries, readLock } from './lock-file.js'
import { findLockSource } from './lock-source.js'

/** Which lock to check, and where its candles are. */
export interface LockCheckRequest extends SourceOptions, ProgressCallbacks {
  /** The file. */
  readonly lock: string
  /** Check the mirror alone, without any request. Default: download what is missing or can still change first. */
  readonly offline?: boolean | undefined
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

/** A cell that the service has changed, and of which series. */
export interface RestatedCell extends SeriesLabel, ChangedCell {}

/** Whether the candles of a lock are here. */
export interface LockCheck {
  readonly path: string
  readonly lock: Lock
  /** Folder of the mirror. */
  readonly mirror: string
  /** `incomplete`: no year differs, and windows are missing. */
  readonly verdict: 'equal' | 'different' | 'incomplete'
  readonly series: readonly CheckedSeries[]
  /** Every cell of locked candles that this run saw change. */
  readonly restated: readonly RestatedCell[]
  /** How the windows were downloaded; undefined when nothing was, or there is no candle. */
  readonly download: DownloadReport | undefined
}

/**
 * Checks that the candles of a lock are exactly those of the mirror, after a download into it unless `offline`. Series, ranges and
 * source are those of the lock, which may be a stranger's: its source is used if it is the public instance, the exchange, one of which
 * there is a mirror, or `baseUrl`. Throws `bad_input` for what is no lock, `bad_option` for an unknown source, and what `downloadKlines`
 * throws: `incomplete` when a window could not be downloaded.
 *
 * @example
 * const { verdict, series } = await checkLock({ lock: 'klines.lock.json' })
 */
export async function checkLock(request: LockCheckRequest): Promise<LockCheck> {
  const lock = await readLock(request.lock)
  const name = findLockSource(lock, request)
  // The sample has no address; its mirror has its name.
  const local = name === SAMPLE && request.offline ? { name, url: '' } : name
  const source = await openSource({ ...request, baseUrl: request.baseUrl ?? local })
  try {
    const plan = await planLock(source, lock, request.now ?? systemClock.now())
    const restated: RestatedCell[] = []
    const download = request.offline ? undefined : await downloadLocked(source, plan, request, restated)
    const series = await checkSeries(source, plan, lock, request)
    const isDifferent = series.some(({ years }) => years.length > 0)
    const isIncomplete = series.some(({ missing }) => missing.length > 0)
    return {
      ...{ path: request.lock, lock, mirror: source.info.mirrorRoot, series, restated, download },
      verdict: isDifferent ? 'different' : isIncomplete ? 'incomplete' : 'equal',
    }
  } finally {
    await source.close()
  }
}

async function planLock(source: WindowSource, { series }: Lock, now: number): Promise<Plan> {
  const ranges = series.map(({ symbol, interval, range: { from, to } }) => {
    return { series: { symbol, interval }, range: { fromTime: from, toTime: to } }
  })
  const [fromTime, toTime] = lockedSpan(series)
  const [from, to] = [fromTime, toTime].map(time => new Date(time).toISOString())
  // No end is named: each series has its own.
  const range: RequestedRange = { ...parseRequestedRange({ from, to }, now), named: { from: undefined, to: undefined } }
  if (!source.info.offline) {
    // As for any other download, this finds symbols that the service does not have, and links in the mirror.
    const symbols = [...new Set(series.map(({ symbol }) => symbol))]
    await source.contents.series({ symbols, intervals: [...new Set(series.map(({ interval }) => interval))] }, range)
  }
  return { range, series: await planSeries(source, ranges) }
}

/** From when to when the candles of a lock open, ms UTC; the end is not part of it. */
export function lockedSpan(series: readonly LockedSeries[]): [fromTime: number, toTime: number] {
  return series.reduce<[number, number]>(
    ([from, to], { range }) => [Math.min(from, range.from), Math.max(to, range.to)],
    [Infinity, -Infinity],
  )
}

/** Downloads all windows of a plan. Throws `incomplete`; undefined without a candle, which the check finds. */
async function downloadLocked(
  source: WindowSource,
  plan: Plan,
  request: LockCheckRequest,
  restated: RestatedCell[],
): Promise<DownloadReport | undefined> {
  const ranges = new Map(plan.series.flatMap(({ windows, range }) => windows.map(window => [window, range] as const)))
  const progress: Progress = state => {
    const { window, change } = state
    const { symbol, interval } = window
    const range = ranges.get(window)
    const isLocked = ({ openTime }: ChangedCell) => range && openTime >= range.fromTime && openTime < range.toTime
    for (const cell of change?.changed ?? []) if (isLocked(cell)) restated.push({ symbol, interval, ...cell })
    request.progress?.(state)
  }
  const tally = new DownloadTally(source, plan, { planned: request.planned, progress })
  await downloadSeries(source, plan.series, tally, request)
  try {
    return tally.report()
  } catch (error) {
    if (isKlinesError(error, 'no_candles')) return undefined
    throw error
  }
}

async function checkSeries(
  source: WindowSource,
  plan: Plan,
  lock: Lock,
  { offline, signal, planned, progress }: LockCheckRequest,
): Promise<CheckedSeries[]> {
  const checks = plan.series.map((series, index) => new SeriesCheck(series, lock.series[index]))
  // A download has shown its progress.
  const tally = new DownloadTally(source, plan, offline ? { planned, progress } : {})
  const bySeries = new Map(plan.series.map((series, index) => [series, checks[index]]))
  for await (const { run, result } of readWindows(source, plan.series, signal)) {
    tally.add(run, result)
    const check = bySeries.get(run)
    if (result.status === 'failed') check?.missing.push(result)
    else check?.fingerprinter.add(result.batch)
  }
  return checks.map(check => check.finish())
}

/** The candles of a locked series. */
class SeriesCheck {
  readonly fingerprinter: Fingerprinter
  readonly missing: WindowFailure[] = []

  constructor(
    { series }: SeriesPlan,
    private readonly locked: LockedSeries,
  ) {
    this.fingerprinter = new Fingerprinter(series)
  }

  finish(): CheckedSeries {
    const { locked, missing } = this
    const found = this.fingerprinter.finish()
    const spans = missing.map(({ window }) => windowSpan(window))
    const isKnown = ({ year }: YearChange) =>
      spans.every(({ startTime, endTime }) => endTime <= Date.UTC(year, 0) || startTime >= Date.UTC(year + 1, 0))
    const years = compareYears(locked, found).filter(isKnown)
    return { symbol: locked.symbol, interval: locked.interval, locked, found, years, missing }
  }
}
