import { KlinesError } from '../candles/errors.js'
import type { Series, WindowRef } from '../candles/series.js'
import { firstLines } from '../candles/text.js'
import { describeRequested, type RequestedRange } from '../candles/time-range.js'
import { seriesBeginning } from '../mirror/beginning.js'
import { incomplete, joinNames, type WindowFailure } from '../mirror/errors.js'
import { idleSince, sumOf } from '../mirror/status.js'
import { type Coverage, type CoveredSeries, countShort, coverRange, linesOf } from '../rows/coverage.js'
import type { ChangedCell } from '../rows/diff.js'
import type { FingerprintReport } from '../rows/fingerprint.js'
import { GapCounter, type SeriesTotals } from '../rows/gaps.js'
import type { ArchiveReport } from '../sources/source.js'
import { noCandles } from './no-candles.js'
import { missingWindows } from './refresh.js'
import {
  isBeforeFirst,
  type Plan,
  type Run,
  type SeriesPlan,
  sourceOf,
  type WindowDifference,
  type WindowOutcome,
  withoutAbsent,
} from './run.js'

const MAX_CHANGES = 1_000

export interface SeriesReport extends Series, SeriesTotals {
  readonly windows: Record<WindowOutcome['status'] | 'total', number>
  /** Size of their files. */
  readonly cachedBytes: number
  /** Candles of the range that were not cached before. */
  readonly newCandles: number
  /** Cached candles whose values the source has changed since, or that it has withdrawn. */
  readonly restated: number
  /** Their cells before and after: the first 1,000. */
  readonly changes: readonly ChangedCell[]
  /** When the first of its last candles opens, ms UTC, if they have had no trade for a day. */
  readonly noTradeSince?: number | undefined
}

/** What became of the windows of a run. */
export interface DownloadReport {
  /** Undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  readonly mirror: string
  readonly range: RequestedRange
  readonly series: (SeriesReport & { readonly coverage: Coverage })[]
  /** With `fingerprint: true`. */
  readonly fingerprints?: FingerprintReport
  /** With those for lists and retries. */
  readonly requests: number
  /** Received over the wire. */
  readonly bytes: number
  /** Of a run that used the exchange's archive. */
  readonly archive?: ArchiveReport | undefined
}

export interface ReportOptions {
  /** Keep resampled candles at both ends that are covered in part only. */
  readonly partial?: boolean | undefined
  /** Throw `incomplete` when a series lacks closed candles of the range: between two others, or at an end that was named. */
  readonly failOnGaps?: boolean | undefined
  /** Compute fingerprints, which Parquet files and lakes name too. */
  readonly fingerprint?: boolean | undefined
}

/** What was counted of a series. Plain data. */
export interface SeriesCount {
  readonly report: SeriesReport
  readonly failures: readonly WindowFailure[]
}

export class Tally {
  private readonly series: Map<SeriesPlan, SeriesCount & { add?(outcome: WindowOutcome): void }>
  readonly total: number
  /** Whether a window could not be had. */
  hasFailed = false
  private done = 0

  constructor(
    readonly plan: Plan,
    private readonly run: Run,
  ) {
    this.series = new Map(plan.series.map(one => [one, countSeries(one)]))
    this.total = sumOf(plan.series.map(({ windows }) => windows.length))
    const { source } = run
    // No other source has a limit.
    const isLimited = source?.rules.kind === 'exchange'
    const costs = isLimited ? plan.series.map(one => source.cost(missingWindows(run, one))) : []
    const [requests, limitMs] = [costs.map(cost => cost.requests), costs.map(cost => cost.limitMs)].map(sumOf)
    run.emit({ type: 'plan', windows: this.total, requests, limitMs })
  }

  /** Adds a window, with its candles in the plan's range. Those of a series come in order of time. */
  add(plan: SeriesPlan, outcome: WindowOutcome): void {
    const isKnown = outcome.status === 'fetched' && isBeforeFirst(plan, outcome.window)
    const result = isKnown ? { ...outcome, status: 'cached' as const } : outcome
    this.series.get(plan)?.add?.(result)
    this.emit(result.window, result.status, 'change' in result ? result.change : undefined)
  }

  addCounts(plans: readonly SeriesPlan[], counts: readonly SeriesCount[]): void {
    for (const [index, plan] of plans.entries()) {
      this.series.set(plan, counts[index])
      const failed = new Set(counts[index].failures.map(({ window }) => window.startDate))
      for (const window of plan.windows) this.emit(window, failed.has(window.startDate) ? 'failed' : 'cached')
    }
  }

  private emit(window: WindowRef, status: WindowOutcome['status'], change?: WindowDifference): void {
    if (status === 'failed') this.hasFailed = true
    this.run.emit({ type: 'progress', done: ++this.done, total: this.total, window, status, change })
  }

  /** In the order of the plan. */
  get counts(): SeriesCount[] {
    return [...this.series.values()].map(({ report, failures }) => ({ report, failures }))
  }

  get failures(): WindowFailure[] {
    return [...this.series.values()].flatMap(({ failures }) => failures)
  }

  /** Throws `incomplete` for windows that could not be had. `forExport`: the error says that nothing is exported. */
  checkWindows(forExport = false): void {
    const { failures, total, run } = this
    if (failures.length > 0) throw incomplete(failures, total, { offline: run.source === undefined, forExport })
  }

  /** `mayBeEmpty`: a range without candles is no error. Throws `incomplete` and `no_candles`. */
  async report(
    { failOnGaps, partial }: ReportOptions = {},
    forExport = false,
    mayBeEmpty = false,
  ): Promise<DownloadReport> {
    this.checkWindows(forExport)
    const { plan, counts } = this
    const { source, mirror } = this.run
    const { range } = plan
    if (counts.length === 0) checkGone(plan, this.run)
    if (!mayBeEmpty && counts.every(({ report }) => report.candles === 0)) throw await noCandles(plan, this.run)
    const series = counts.map(({ report }, index) => {
      const one = withoutAbsent(plan.series[index], this.run)
      const beginning = seriesBeginning(mirror, one.series, range.named.from, one.firstCandle)
      const coverage = coverRange(one, range, report, beginning, partial)
      return { ...report, coverage, noTradeSince: idleSince(mirror, one.series) }
    })
    if (failOnGaps) checkGaps(series, range, forExport)
    const { requests, bytes } = source?.traffic ?? { requests: 0, bytes: 0 }
    const { report: archive } = source?.archive ?? {}
    return { baseUrl: sourceOf(this.run), mirror: mirror.root, range, series, requests, bytes, archive }
  }
}

function countSeries({ series, range: { fromTime, toTime }, windows: all }: SeriesPlan) {
  const counter = new GapCounter(series)
  const windows = { total: all.length, cached: 0, fetched: 0, revalidated: 0, retained: 0, absent: 0, failed: 0 }
  const changes: ChangedCell[] = []
  const failures: WindowFailure[] = []
  const counts = { cachedBytes: 0, newCandles: 0, restated: 0 }
  const isNeeded = (time: number) => time >= fromTime && time < toTime
  return {
    failures,
    get report(): SeriesReport {
      return { ...series, ...counter.totals, windows, ...counts, changes }
    },
    add(result: WindowOutcome): void {
      windows[result.status]++
      if (result.status === 'failed') failures.push(result)
      if (result.status === 'failed' || result.status === 'absent') return
      if ('facts' in result) {
        const { first, last, size } = result.facts
        if (first !== undefined && last !== undefined) counter.addCounted(first, last, result.facts)
        counts.cachedBytes += size
        return
      }
      const { batch, bytes, change, status } = result
      counter.add(batch)
      counts.cachedBytes += bytes.length
      if (status === 'fetched') counts.newCandles += change ? change.added.filter(isNeeded).length : batch.length
      if (!change) return
      // A candle that fills a gap had no values before.
      const changed = change.cells.filter(({ before }) => before !== null)
      counts.restated += new Set(changed.map(({ openTime }) => openTime)).size
      changes.push(...change.cells.slice(0, MAX_CHANGES - changes.length))
    },
  }
}

const MAX_LISTED = 5

/** Throws `incomplete` for series that lack closed candles of a range: between two others, or at an end that was named. */
function checkGaps(series: readonly CoveredSeries[], range: RequestedRange, forExport = false): void {
  const lacking = series.filter(({ missing = 0, coverage }) => missing > 0 || countShort(coverage) > 0)
  if (lacking.length === 0) return
  const lines = firstLines(linesOf(lacking), MAX_LISTED, 'more lines; --json has all of them')
  const verb = lacking.length === 1 ? 'lacks' : 'lack'
  const what = `${lacking.length} of ${series.length} series ${verb} candles${forExport ? ', so nothing was exported' : ''}`
  const data = lacking.map(({ symbol, missing, coverage: { interval, shortAtStart, shortAtEnd } }) => {
    return { symbol, interval, missing, shortAtStart, shortAtEnd }
  })
  throw new KlinesError('incomplete', [`${describeRequested(range)}; ${what}:`, ...lines].join('\n'), {
    data: { series: data },
    suggestions: ['Without --fail-on-gaps such a run takes what is there.'],
  })
}

/** Throws `incomplete` for symbols of the mirror that its source does not know any more. */
export function checkGone({ gone }: Plan, { source, mirror }: Run): void {
  if (gone.length === 0) return
  const [it, its] = gone.length === 1 ? ['it', 'its'] : ['them', 'their']
  const message = `${source?.name} does not know ${joinNames(gone)} any more; everything else is done.`
  const folders = `${its} folders below ${mirror.root}: api/klines/*/SYMBOL and .klines/*/SYMBOL.json`
  const suggestions = [`The mirror keeps ${it}. To remove ${it}, remove ${folders}.`]
  throw new KlinesError('incomplete', message, { data: { baseUrl: source?.name, missing: gone }, suggestions })
}
