import type { Series } from '../candles/series.js'
import type { RequestedRange } from '../candles/time-range.js'
import { firstCandle } from '../mirror/status.js'
import type { ChangedCell } from '../rows/diff.js'
import { Fingerprinter, type FingerprintReport, reportFingerprints } from '../rows/fingerprint.js'
import { GapCounter, type SeriesTotals } from '../rows/gaps.js'
import { type Coverage, checkGaps, coverPlan } from './coverage.js'
import { goneSymbols, incomplete, noCandles } from './errors.js'
import type { WindowFailure, WindowOutcome, WindowStatus } from './outcome.js'
import type { Run } from './run.js'
import { isBeforeFirst, type Plan, type SeriesPlan } from './series-plan.js'

/** The most changed cells that a report lists of a series; all are counted, and `changes.jsonl` has them. */
const MAX_CHANGES = 1_000

/** The number of windows of a series by their status. */
export type WindowCounts = Record<WindowStatus | 'absent' | 'failed', number> & { total: number }

/** The result of one series. */
export interface SeriesReport extends Series, SeriesTotals {
  readonly windows: WindowCounts
  /** Size of the files of these windows, bytes. */
  readonly cachedBytes: number
  /** Candles of the range that were not cached before. */
  readonly newCandles: number
  /** Cached candles whose values the source has changed since, or that it has withdrawn. */
  readonly restated: number
  /** Their cells before and after: the first 1,000. */
  readonly changes: readonly ChangedCell[]
}

/** The result of one series, and how much of the requested range it has. */
export interface CoveredReport extends SeriesReport {
  readonly coverage: Coverage
}

/** The result of a run. */
export interface DownloadReport {
  /** Base address the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** Folder of the mirror. */
  readonly mirror: string
  readonly range: RequestedRange
  readonly series: CoveredReport[]
  /** The fingerprints of the series that have candles; with `fingerprint: true`. */
  readonly fingerprints?: FingerprintReport
  /** Number of requests, with those for lists and retries. */
  readonly requests: number
  /** Bytes of bodies as received over the wire. */
  readonly bytes: number
}

/** How a run is judged. */
export interface ReportOptions {
  /** Whether resampled candles are there that are covered in part only. */
  readonly partial?: boolean | undefined
  /**
   * Throw `incomplete` when a series lacks closed candles of the range: between two others, or at an end that was named. Windows that
   * were downloaded stay in the mirror, and nothing is exported.
   */
  readonly failOnGaps?: boolean | undefined
  /** Compute the fingerprints of the candles, which Parquet files and lakes name too. */
  readonly fingerprint?: boolean | undefined
}

/** Counts the windows and candles of a plan as they come. */
export class Tally {
  private readonly series: ReadonlyMap<SeriesPlan, SeriesTally>
  /** Reports of series that a worker has counted. */
  private readonly counted = new Map<SeriesPlan, SeriesReport>()
  /** Windows that could not be downloaded or read. */
  readonly failures: WindowFailure[] = []
  private readonly total: number
  private done = 0
  private limitMs = 0

  /** `isQuiet`: emits no events, because the windows have had theirs. */
  constructor(
    readonly plan: Plan,
    private readonly run: Pick<Run, 'source' | 'mirror' | 'emit'>,
    private readonly isQuiet = false,
  ) {
    this.series = new Map(plan.series.map(one => [one, new SeriesTally(one)]))
    this.total = plan.series.reduce((sum, { windows }) => sum + windows.length, 0)
    let requests = 0
    for (const one of plan.series) {
      const missing = this.countMissing(one)
      this.limitMs += this.limitOf(one) * missing
      requests += missing * (run.source?.cost(one.series.interval).requests ?? 0)
    }
    if (!isQuiet) run.emit({ type: 'plan', windows: this.total, requests, limitMs: this.limitMs })
  }

  /** Whether a window could not be downloaded or read. */
  get hasFailed(): boolean {
    return this.failures.length > 0
  }

  /** Adds a window of a series, with its candles in the plan's range. Those of a series come in order of time. */
  add(plan: SeriesPlan, outcome: WindowOutcome): void {
    const isKnown = outcome.status === 'fetched' && isBeforeFirst(plan, outcome.window)
    const result = isKnown ? { ...outcome, status: 'cached' as const } : outcome
    this.series.get(plan)?.add(result)
    if (result.status === 'failed') this.failures.push(result)
    if (this.isQuiet) return
    const isReceived = result.status === 'fetched' || result.status === 'failed'
    if (isReceived) this.limitMs = Math.max(0, this.limitMs - this.limitOf(plan))
    const { window, status } = result
    const change = 'change' in result ? result.change : undefined
    const { total, limitMs } = this
    const bytes = this.run.source?.traffic.bytes ?? 0
    this.run.emit({ type: 'progress', done: ++this.done, total, bytes, limitMs, window, status, change })
  }

  /** Says that all windows of some series were read, by whichever thread. */
  pass(plans: readonly SeriesPlan[]): void {
    const { total, isQuiet, run } = this
    const rest = { total, status: 'cached' as const, bytes: 0, limitMs: 0, change: undefined }
    for (const window of isQuiet ? [] : plans.flatMap(({ windows }) => windows))
      run.emit({ type: 'progress', done: ++this.done, window, ...rest })
  }

  /** Adds all windows of some series as a worker has counted them. */
  addSeries(plans: readonly SeriesPlan[], reports: readonly SeriesReport[], failures: readonly WindowFailure[]): void {
    this.failures.push(...failures)
    for (const [index, plan] of plans.entries()) this.counted.set(plan, reports[index])
  }

  /** The reports of all series, in the order of the plan. */
  get reports(): SeriesReport[] {
    return [...this.series].map(([plan, tally]) => this.counted.get(plan) ?? tally.report())
  }

  /**
   * The report when all windows were added. `forExport`: whether nothing is exported because of an error; `mayBeEmpty`: whether a range
   * without a candle is none. Throws `incomplete` or `no_candles`.
   */
  report({ failOnGaps, partial }: ReportOptions = {}, forExport = false, mayBeEmpty = false): DownloadReport {
    const { plan, failures, run } = this
    const { source, mirror } = run
    if (failures.length > 0) throw incomplete(failures, this.total, { offline: source === undefined, forExport })
    const { reports } = this
    if (!mayBeEmpty && reports.every(({ candles }) => candles === 0)) throw noCandles(plan, mirror)
    const series = reports.map((report, index) => {
      const one = plan.series[index]
      const begin = plan.range.named.from === undefined ? undefined : firstCandle(mirror, one.series)
      return { ...report, coverage: coverPlan(one, plan.range, report, { rules: mirror.rules, begin, partial }) }
    })
    if (failOnGaps) checkGaps(series, plan.range, forExport)
    const { requests, bytes } = source?.traffic ?? { requests: 0, bytes: 0 }
    return { baseUrl: source?.name ?? mirror.source, mirror: mirror.root, range: plan.range, series, requests, bytes }
  }

  private limitOf({ series }: SeriesPlan): number {
    return this.run.source?.cost(series.interval).limitMs ?? 0
  }

  /** The windows of a series that are to be requested. */
  private countMissing(plan: SeriesPlan): number {
    if (this.limitOf(plan) === 0) return 0
    const cached = new Set(this.run.mirror.dates(plan.series))
    return plan.windows.filter(window => !cached.has(window.startDate) && !isBeforeFirst(plan, window)).length
  }
}

/** Throws `incomplete` for symbols that the source does not know any more: everything else is done. */
export function checkGone({ gone }: Plan, { source, mirror }: Run): void {
  if (gone.length > 0) throw goneSymbols(gone, source?.name, mirror)
}

/** Counts one series. */
class SeriesTally {
  private readonly counter: GapCounter
  private readonly windows: WindowCounts
  private readonly changes: ChangedCell[] = []
  private restated = 0
  private newCandles = 0
  private cachedBytes = 0

  constructor(private readonly plan: SeriesPlan) {
    this.counter = new GapCounter(plan.series)
    const total = plan.windows.length
    this.windows = { total, cached: 0, fetched: 0, revalidated: 0, retained: 0, absent: 0, failed: 0 }
  }

  add(result: WindowOutcome): void {
    this.windows[result.status]++
    if (result.status === 'failed' || result.status === 'absent') return
    const { batch, bytes, change, status } = result
    this.counter.add(batch)
    this.cachedBytes += bytes.length
    const { fromTime, toTime } = this.plan.range
    const isNeeded = (time: number) => time >= fromTime && time < toTime
    if (status === 'fetched') this.newCandles += change ? change.added.filter(isNeeded).length : batch.length
    if (!change) return
    this.restated += new Set(change.cells.map(({ openTime }) => openTime)).size
    this.changes.push(...change.cells.slice(0, MAX_CHANGES - this.changes.length))
  }

  report(): SeriesReport {
    const { counter, windows, cachedBytes, newCandles, restated, changes } = this
    return { ...counter.series, ...counter.totals, windows, cachedBytes, newCandles, restated, changes }
  }
}

/** Computes the fingerprints of series whose candles come as they are cached. */
export class SeriesFingerprints {
  private readonly found = new Map<SeriesPlan, Fingerprinter>()

  of(plan: SeriesPlan): Fingerprinter {
    const known = this.found.get(plan) ?? new Fingerprinter(plan.series)
    this.found.set(plan, known)
    return known
  }

  report(): FingerprintReport {
    return reportFingerprints([...this.found.values()].flatMap(series => series.finish() ?? []))
  }
}
