import { type Plan, planSeries, type SeriesPlan, type SeriesRange } from '../download/plan.js'
import { openSource } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import type { WindowFailure, WindowResult, WindowSource } from '../download/sources/window-source.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import { readWindows, streamWindows } from '../download/window-stream.js'
import { Fingerprinter, type SeriesFingerprint } from '../fingerprint/fingerprint.js'
import { systemClock } from '../http/system-clock.js'
import type { ChangedCell } from '../klines/batch/diff.js'
import { KlinesError } from '../klines/errors.js'
import { DAY_MS } from '../klines/intervals.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { formatTime } from '../klines/text.js'
import { parseRequestedRange, type RequestedRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import { compareYears, type YearChange } from './compare.js'
import { type Lock, type LockedSeries, readLock } from './lock-file.js'
import { findLockSource } from './lock-source.js'

/** Which lock to check, and where its candles are. */
export interface LockCheckRequest extends SourceOptions {
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
 * source are those of the lock. Throws `bad_input` for what is no lock, `bad_option` for another source than its own, and what
 * `downloadKlines` throws: `incomplete` when a window could not be downloaded.
 *
 * @example
 * const { verdict, series } = await checkLock({ lock: 'klines.lock.json' })
 */
export async function checkLock(request: LockCheckRequest): Promise<LockCheck> {
  const { offline, signal } = request
  const lock = await readLock(request.lock)
  const name = findLockSource(lock, request)
  const source = await openSource({ ...request, baseUrl: request.baseUrl ?? name })
  try {
    const plan = await planLock(source, lock, request)
    const checks = new Map(plan.series.map((series, index) => [series, new SeriesCheck(series, lock.series[index])]))
    const tally = new DownloadTally(source, plan, request)
    const windows = offline ? readWindows(source, plan.series, signal) : streamWindows(source, plan.series, request)
    for await (const { run, result } of windows) {
      tally.add(run, result)
      checks.get(run)?.add(result)
    }
    const found = [...checks.values()]
    const series = found.map(check => check.finish())
    // Without a candle, the check says more than the tally.
    const isReported = !offline && (tally.hasFailed || series.some(({ found }) => found !== undefined))
    const download = isReported ? tally.report() : undefined
    const restated = found.flatMap(({ restated }) => restated)
    return {
      path: request.lock,
      lock,
      mirror: source.info.mirrorRoot,
      series,
      restated,
      download,
      verdict: judge(series),
    }
  } finally {
    await source.close()
  }
}

function judge(series: readonly CheckedSeries[]): LockCheck['verdict'] {
  if (series.some(({ years }) => years.length > 0)) return 'different'
  return series.some(({ missing }) => missing.length > 0) ? 'incomplete' : 'equal'
}

async function planLock(source: WindowSource, lock: Lock, request: LockCheckRequest): Promise<Plan> {
  const now = request.now ?? systemClock.now()
  const early = lock.series.find(({ lastOpenTime }) => lastOpenTime > now + DAY_MS)
  if (early !== undefined) {
    const time = formatTime(early.lastOpenTime)
    throw new KlinesError(
      'bad_input',
      `${request.lock} has a candle of ${seriesName(early)} of ${time} UTC, which is in the future.`,
    )
  }
  const toRange = (series: readonly LockedSeries[]): RequestedRange => {
    // No end is named: each series has its own.
    return { ...parseRequestedRange(lockedSpan(series), now), named: { from: undefined, to: undefined } }
  }
  if (!source.info.offline) {
    // As for any other download, this finds symbols that the service does not have, links in the mirror, and very many requests.
    for (const interval of new Set(lock.series.map(({ interval }) => interval))) {
      const series = lock.series.filter(one => one.interval === interval)
      const symbols = series.map(({ symbol }) => symbol)
      await source.contents.series({ symbols, intervals: [interval] }, toRange(series))
    }
  }
  return { range: toRange(lock.series), series: await planSeries(source, lockedRanges(lock)) }
}

/** The series of a lock, each with its own range. */
export function lockedRanges({ series }: Lock): SeriesRange[] {
  return series.map(({ symbol, interval, range: { from, to } }) => {
    return { series: { symbol, interval }, range: { fromTime: from, toTime: to } }
  })
}

/** From when to when the candles of some series of a lock open. */
export function lockedSpan(series: readonly LockedSeries[]): { from: string; to: string } {
  const from = series.reduce((time, { range }) => Math.min(time, range.from), Infinity)
  const to = series.reduce((time, { range }) => Math.max(time, range.to), -Infinity)
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/** The candles of a locked series. */
class SeriesCheck {
  readonly restated: RestatedCell[] = []
  private readonly fingerprinter: Fingerprinter
  private readonly missing: WindowFailure[] = []

  constructor(
    private readonly plan: SeriesPlan,
    private readonly locked: LockedSeries,
  ) {
    this.fingerprinter = new Fingerprinter(plan.series)
  }

  add(result: WindowResult | WindowFailure): void {
    if (result.status === 'failed') {
      this.missing.push(result)
      return
    }
    this.fingerprinter.add(result.batch)
    const { symbol, interval } = this.locked
    const { fromTime, toTime } = this.plan.range
    for (const cell of result.change?.changed ?? []) {
      if (cell.openTime >= fromTime && cell.openTime < toTime) this.restated.push({ symbol, interval, ...cell })
    }
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
