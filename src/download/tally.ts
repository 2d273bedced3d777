import { Fingerprinter, type FingerprintReport, reportFingerprints } from '../fingerprint/fingerprint.js'
import type { Coverage } from '../klines/audit/coverage.js'
import { GapCounter, type SeriesTotals } from '../klines/audit/gap-counter.js'
import type { ChangedCell } from '../klines/batch/diff.js'
import { MINUTE_MS } from '../klines/intervals.js'
import type { Series, WindowRef } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { checkGaps, coverPlan } from './coverage.js'
import { incomplete, noCandles } from './errors.js'
import { type EventOptions, toWarn, type WindowEvent } from './events.js'
import type { Plan, SeriesPlan } from './plan.js'
import { describeCost } from './request-cost.js'
import type { KnownTotals, WindowFailure, WindowResult, WindowSource, WindowStatus } from './sources/window-source.js'

/** The most changed values that a report lists of a series; all are counted. */
const MAX_CHANGES = 1_000

/** The number of windows of a series by their status. */
export type WindowCounts = Record<WindowStatus | 'failed', number> & { total: number }

/** The result of one series. */
export interface SeriesReport extends Series, SeriesTotals {
  readonly windows: WindowCounts
  /** Size of the files of these windows, bytes. */
  readonly cachedBytes: number
  /** Number of candles of the range that were not cached before. */
  readonly newCandles: number
  /** Number of cached candles whose values the service has changed since. */
  readonly restated: number
  /** Their values before and after: the first 1,000. */
  readonly changes: readonly ChangedCell[]
}

/** The result of one series, and how much of the requested range it has. */
export interface DownloadedSeries extends SeriesReport {
  readonly coverage: Coverage
}

/** The result of a run. */
export interface DownloadReport {
  /** Base address the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** Folder of the mirror. */
  readonly mirror: string
  /** The requested range, ms UTC; an open end is infinite. */
  readonly range: RequestedRange
  readonly series: DownloadedSeries[]
  /** The fingerprints of the series that have candles, as they are written; with `fingerprint: true`. */
  readonly fingerprints?: FingerprintReport
  /** Number of requests, with those for lists and retries. */
  readonly requests: number
  /** Bytes of bodies as received over the wire. */
  readonly bytes: number
}

/** How a run is judged. */
export interface TallyOptions extends EventOptions {
  /** Whether it is for an export, which an error says. */
  readonly forExport?: boolean | undefined
  /** Whether resampled candles are there that are covered in part only. */
  readonly partial?: boolean | undefined
  /**
   * Throw `incomplete` when a series lacks closed candles of the range: between two others, or at an end that was named. Windows that
   * were downloaded stay in the mirror, and nothing is exported. At an end that moves with the present, the newest 48 hours do not
   * count, or of the exchange the newest two candles.
   */
  readonly failOnGaps?: boolean | undefined
  /** Compute the fingerprints of the candles, which Parquet files and lakes name too. */
  readonly fingerprint?: boolean | undefined
}

/** Counts the windows and candles of a plan as they come. */
export class DownloadTally {
  private readonly series: ReadonlyMap<SeriesPlan, SeriesTally>
  private readonly total: number
  /** Reports of series whose windows were counted elsewhere. */
  private readonly counted = new Map<SeriesPlan, SeriesReport>()
  private readonly failures: WindowFailure[] = []
  private done = 0
  /** What each window adds to `limitMs`, by its startDate, as it was planned: the source knows more of it later. */
  private readonly limits = new Map<SeriesPlan, ReadonlyMap<string, number>>()
  private limitMs = 0
  /** An export has fingerprints of what it writes. */
  private readonly fingerprinters: ReadonlyMap<SeriesPlan, Fingerprinter> | undefined

  constructor(
    private readonly source: WindowSource,
    private readonly plan: Plan,
    private readonly options: TallyOptions = {},
  ) {
    this.series = new Map(plan.series.map(series => [series, new SeriesTally(series)]))
    if (options.fingerprint && !options.forExport) {
      this.fingerprinters = new Map(plan.series.map(series => [series, new Fingerprinter(series.series)]))
    }
    this.total = plan.series.reduce((sum, { windows }) => sum + windows.length, 0)
    let requests = 0
    for (const series of plan.series) {
      const limits = source.costs.limitsMs(series.series, series.windows)
      this.limits.set(series, limits)
      for (const limitMs of limits.values()) this.limitMs += limitMs
      requests += limits.size * source.costs.windowCost(series.series).requests
    }
    options.onEvent?.({ type: 'plan', windows: this.total, limitMs: this.limitMs })
    const cost = { requests, limitMs: this.limitMs }
    if (cost.limitMs > MINUTE_MS) toWarn(options)(`This takes ${describeCost(cost)}.`)
  }

  /** Whether a window could not be downloaded or read. */
  get hasFailed(): boolean {
    return this.failures.length > 0
  }

  /** Adds a window of a series, with its candles in the plan's range. Those of a series come in order of time. */
  add(series: SeriesPlan, result: WindowResult | WindowFailure): void {
    this.series.get(series)?.add(result)
    if (result.status === 'failed') this.failures.push(result)
    else this.fingerprinters?.get(series)?.add(result.batch)
    const { window, status } = result
    const change = result.status === 'failed' ? undefined : result.change
    this.reportProgress(series, { window, status, change })
  }

  /** Adds a window that was not read, because its candles were counted before. */
  addCounted(series: SeriesPlan, window: WindowRef, status: WindowStatus, counted: KnownTotals): void {
    this.series.get(series)?.addCounted(status, counted)
    this.reportProgress(series, { window, status, change: undefined })
  }

  /** Adds all windows of a series, which are cached, with the report of another tally. */
  addSeries(series: SeriesPlan, report: SeriesReport): void {
    this.counted.set(series, report)
    for (const window of series.windows) this.reportProgress(series, { window, status: 'cached', change: undefined })
  }

  /** The reports of all series, in the order of the plan. */
  get seriesReports(): SeriesReport[] {
    return [...this.series].map(([series, tally]) => this.counted.get(series) ?? tally.report())
  }

  private reportProgress(series: SeriesPlan, state: Pick<WindowEvent, 'window' | 'status' | 'change'>): void {
    const { bytes } = this.source.info.traffic
    this.limitMs -= this.limits.get(series)?.get(state.window.startDate) ?? 0
    const { total, limitMs } = this
    this.options.onEvent?.({ type: 'progress', done: ++this.done, total, bytes, limitMs, ...state })
  }

  /** The report when all windows were added. Throws `incomplete` or `no_candles`. */
  report(): DownloadReport {
    const { source, plan, failures } = this
    const { forExport, partial, failOnGaps } = this.options
    if (failures.length > 0) throw incomplete(failures, this.total, source.info, forExport)
    const reports = this.seriesReports
    if (reports.every(({ candles }) => candles === 0)) throw noCandles(plan, source.info)
    const scope = { source, range: plan.range, partial }
    const series = reports.map((report, index) => ({
      ...report,
      coverage: coverPlan(scope, plan.series[index], report),
    }))
    if (failOnGaps) checkGaps(series, plan.range, source.info, forExport)
    const found = this.fingerprinters && [...this.fingerprinters.values()].flatMap(series => series.finish() ?? [])
    return {
      baseUrl: source.info.baseUrl,
      mirror: source.info.mirrorRoot,
      range: plan.range,
      series,
      ...source.info.traffic,
      ...(found && { fingerprints: reportFingerprints(found) }),
    }
  }
}

/** Counts one series. */
class SeriesTally {
  private readonly counter: GapCounter
  private readonly windows: WindowCounts
  private readonly changes: ChangedCell[] = []
  private readonly range: TimeRange
  private restated = 0
  private newCandles = 0
  private cachedBytes = 0

  constructor({ series, range, windows: { length: total } }: SeriesPlan) {
    this.range = range
    this.counter = new GapCounter(series)
    this.windows = { total, cached: 0, fetched: 0, revalidated: 0, retained: 0, failed: 0 }
  }

  add(result: WindowResult | WindowFailure): void {
    this.windows[result.status]++
    if (result.status === 'failed') return
    this.counter.add(result.batch)
    this.cachedBytes += result.size
    if (result.status === 'fetched') this.newCandles += this.countAdded(result)
    const { changed = [] } = result.change ?? {}
    this.restated += new Set(changed.map(({ openTime }) => openTime)).size
    this.changes.push(...changed.slice(0, MAX_CHANGES - this.changes.length))
  }

  addCounted(status: WindowStatus, { size, totals }: KnownTotals): void {
    this.windows[status]++
    this.counter.addTotals(totals)
    this.cachedBytes += size
  }

  report(): SeriesReport {
    const { counter, windows, cachedBytes, newCandles, restated, changes } = this
    return { ...counter.series, ...counter.totals, windows, cachedBytes, newCandles, restated, changes }
  }

  private countAdded({ batch, change }: WindowResult): number {
    const { fromTime, toTime } = this.range
    return change ? change.added.filter(time => time >= fromTime && time < toTime).length : batch.length
  }
}
