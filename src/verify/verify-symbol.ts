import type { LoadedSeries } from '../klines/audit/compare-series.js'
import { type CrossCheck, crossCheck } from '../klines/audit/cross-check.js'
import { findFinerRow } from '../klines/audit/grid.js'
import { type Inspection, inspect } from '../klines/audit/inspect.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { type Interval, nextOpenTime, stepsBetween } from '../klines/intervals.js'
import { CandleTable } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { type Series, windowName } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { parseDate, type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The windows of a series that are cached or needed, startDates ascending. */
export interface SeriesWindows extends Series {
  readonly startDates: readonly string[]
}

/** What is verified of every series. */
export interface VerifyScope {
  /** Whether to compare the intervals. */
  readonly audit: boolean
  /** The open times of the candles that are inspected. */
  readonly range: TimeRange
  /** A window without a file is missing, unless it starts later (ms UTC) or the mirror says that it is empty. */
  readonly horizon: number
}

/** The inspection of a series and how far finer series of the symbol confirm it. */
export interface SeriesFindings extends Series, Inspection {
  /** Number of windows that have a file. */
  readonly windows: number
  /** The startDates of windows that are needed and have no file, ascending. */
  readonly missingWindows: readonly string[]
  /** Windows whose file is corrupt. */
  readonly corrupt: readonly { readonly startDate: string; readonly reason: string }[]
  /** Candles that were compared with no finer series; undefined without a comparison. */
  readonly unverified: number | undefined
}

/** The findings for the series of one symbol. */
export interface SymbolFindings extends Pick<CrossCheck, 'pairs' | 'differences'> {
  readonly series: readonly SeriesFindings[]
}

/** Reads, inspects and compares the series of one symbol after another, in the same memory. */
export class SymbolVerifier {
  private readonly kernel = new Kernel()
  private readonly tables = new Map<Interval, CandleTable>()

  constructor(
    private readonly mirror: Mirror,
    private readonly scope: VerifyScope,
  ) {}

  /**
   * Inspects every candle of the series of one symbol and calls `afterEach` after each series. Throws `digits_lost` for a
   * decimal too long for exact sums, `mirror_unusable`, and what `afterEach` throws.
   */
  async verify(seriesWindows: readonly SeriesWindows[], afterEach = async () => {}): Promise<SymbolFindings> {
    const loaded: (LoadedSeries & { findings: Omit<SeriesFindings, 'unverified'> })[] = []
    for (const windows of seriesWindows) {
      loaded.push(this.load(windows))
      await afterEach()
    }
    const audit = this.scope.audit ? crossCheck(loaded) : undefined
    const series = loaded.map(({ findings }) => ({ ...findings, unverified: audit?.unverified.get(findings.interval) }))
    return { series, pairs: audit?.pairs ?? [], differences: audit?.differences ?? [] }
  }

  private load({ symbol, interval, startDates }: SeriesWindows) {
    const series = { symbol, interval }
    const table = this.tables.get(interval) ?? new CandleTable(this.kernel)
    this.tables.set(interval, table)
    table.clear()
    table.reserve(countCandles(interval, startDates))
    const { fromTime, toTime } = this.scope.range
    const horizon = this.mirror.covers(series) ? -Infinity : this.scope.horizon
    const loadedSpans: WindowSpan[] = []
    /** The loaded windows, and those that are empty without a file. */
    const knownSpans: WindowSpan[] = []
    /** The windows of finer series: their candles are not off the grid because the exchange has them so. */
    const finerSpans: WindowSpan[] = []
    const corrupt: { startDate: string; reason: string }[] = []
    const missingWindows: string[] = []
    let [before, after]: (number | undefined)[] = []
    for (const startDate of startDates) {
      const window = { symbol, interval, startDate }
      const read = this.mirror.borrowWindow(window, this.kernel)
      if (read.state === 'missing') {
        if (parseDate(startDate) <= horizon) missingWindows.push(startDate)
        else knownSpans.push(windowSpan(window))
        continue
      }
      if (read.state === 'corrupt') {
        corrupt.push({ startDate, reason: read.error.message.replace(`${windowName(window)}: `, '') })
        continue
      }
      const { batch } = read
      const span = windowSpan(window)
      loadedSpans.push(span)
      knownSpans.push(span)
      if (findFinerRow(batch) !== undefined) finerSpans.push(span)
      const rows = batch.slice(fromTime, toTime)
      if (rows.length < batch.length) {
        before = openTimes(batch.slice(-Infinity, fromTime)).at(-1) ?? before
        after ??= openTimes(batch.slice(toTime, Infinity))[0]
      }
      table.add(rows)
    }
    const last = table.length > 0 ? table.openTime(table.length - 1) : before
    // Nothing is known about the time after the last candle: it may be the present.
    const end = after ?? (last === undefined ? -Infinity : nextOpenTime(interval, last))
    const covered = { fromTime, toTime: Math.min(toTime, end) }
    const inspection = inspect(series, table, { spans: mergeSpans(knownSpans, covered), finerSpans, before, after })
    const spans = mergeSpans(loadedSpans, covered)
    const windows = loadedSpans.length + corrupt.length
    return { series, table, spans, before, findings: { ...series, ...inspection, windows, missingWindows, corrupt } }
  }
}

function openTimes(batch: KlineBatch): number[] {
  return Array.from({ length: batch.length }, (_, row) => batch.openTime(row))
}

/** About how many candles the windows have: a table that is reserved at once is not moved when it grows. */
function countCandles(interval: Interval, startDates: readonly string[]): number {
  if (startDates.length === 0) return 0
  const { startTime, endTime } = windowSpan({ interval, startDate: startDates[0] })
  return startDates.length * stepsBetween(interval, startTime, endTime)
}

/** Merges adjacent windows to spans within the range. */
function mergeSpans(windows: readonly WindowSpan[], { fromTime, toTime }: TimeRange): WindowSpan[] {
  const spans: { startTime: number; endTime: number }[] = []
  for (const { startTime, endTime } of windows) {
    const last = spans.at(-1)
    if (last?.endTime === startTime) last.endTime = endTime
    else spans.push({ startTime, endTime })
  }
  return spans
    .map(({ startTime, endTime }) => ({
      startTime: Math.max(startTime, fromTime),
      endTime: Math.min(endTime, toTime),
    }))
    .filter(({ startTime, endTime }) => startTime < endTime)
}
