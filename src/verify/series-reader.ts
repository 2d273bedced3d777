import type { SlicedSeries } from '../klines/audit/cross-check.js'
import { findFinerRow } from '../klines/audit/grid.js'
import { type Inspection, SeriesInspector } from '../klines/audit/inspect.js'
import { TimeSpans } from '../klines/audit/time-spans.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { nextOpenTime } from '../klines/intervals.js'
import type { CandleTable } from '../klines/kernel/candle-table.js'
import { type Series, windowName } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { parseDate, type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The windows of a series that are cached or needed, startDates ascending. */
export interface SeriesWindows extends Series {
  readonly startDates: readonly string[]
}

/** The findings for a series without those of other series. */
export interface SeriesInspection extends Series, Inspection {
  /** Number of windows that have a file. */
  readonly windows: number
  /** The startDates of windows that are needed and have no file, ascending. */
  readonly missingWindows: readonly string[]
  /** Windows whose file is corrupt. */
  readonly corrupt: readonly { readonly startDate: string; readonly reason: string }[]
}

/** Reads the windows of a series into a table, slice by slice of time, and inspects every candle. */
export class SeriesReader implements SlicedSeries {
  readonly series: Series
  firstOpenTime: number | undefined
  before: number | undefined
  /** Number of windows that were read. */
  done = 0
  /** Open time of the first candle after the range, ms UTC, if its window is read. */
  private after: number | undefined
  private lastOpenTime: number | undefined
  /** Windows that start later and have no file are empty, ms UTC. */
  private readonly horizon: number
  private readonly loadedSpans = new TimeSpans()
  /** The loaded windows, and those that are empty without a file. */
  private readonly knownSpans = new TimeSpans()
  /** The windows of finer series: their candles are not off the grid because the exchange has them so. */
  private readonly finerSpans: WindowSpan[] = []
  private readonly corrupt: { startDate: string; reason: string }[] = []
  private readonly missingWindows: string[] = []
  private windows = 0
  private inspector: SeriesInspector | undefined

  /** `range`: the open times of the candles to read. `horizon`: a window without a file that starts later is not missing. */
  constructor(
    private readonly mirror: Mirror,
    private readonly plan: SeriesWindows,
    readonly table: CandleTable,
    private readonly range: TimeRange,
    horizon: number,
  ) {
    this.series = { symbol: plan.symbol, interval: plan.interval }
    this.horizon = mirror.covers(this.series) ? -Infinity : horizon
  }

  /** Whether all windows were read. */
  get isDone(): boolean {
    return this.done === this.plan.startDates.length
  }

  get spans(): WindowSpan[] {
    return this.loadedSpans.within(this.coverage)
  }

  /**
   * Reads windows until the table has a candle that opens at `time` (ms UTC) or later, or all are read, and inspects the new
   * candles. Throws `digits_lost` for a decimal too long for exact sums, and `mirror_unusable`.
   */
  readTo(time: number): void {
    const { table, plan } = this
    const start = table.length
    while (!this.isDone && !(this.lastOpenTime !== undefined && this.lastOpenTime >= time)) {
      this.readWindow(plan.startDates[this.done++])
    }
    this.openInspector().add(table, start, this.knownSpans.within(this.coverage), this.finerSpans)
  }

  /** The findings when all is read. */
  end(): SeriesInspection {
    const { series, after, knownSpans, windows, missingWindows, corrupt } = this
    const inspection = this.openInspector().end(knownSpans.within(this.coverage), after)
    return { ...series, ...inspection, windows, missingWindows, corrupt }
  }

  /** Once something is read, the first candle and the one before it are known. */
  private openInspector(): SeriesInspector {
    this.inspector ??= new SeriesInspector(this.series, this.firstOpenTime, this.before)
    return this.inspector
  }

  private readWindow(startDate: string): void {
    const { mirror, series, range, table } = this
    const window = { ...series, startDate }
    const span = windowSpan(window)
    const read = mirror.borrowWindow(window, table.kernel)
    if (read.state === 'missing') {
      if (parseDate(startDate) <= this.horizon) this.missingWindows.push(startDate)
      else this.knownSpans.add(span)
      return
    }
    this.windows++
    if (read.state === 'corrupt') {
      this.corrupt.push({ startDate, reason: read.error.message.replace(`${windowName(window)}: `, '') })
      return
    }
    const { batch } = read
    this.loadedSpans.add(span)
    this.knownSpans.add(span)
    if (findFinerRow(batch) !== undefined) this.finerSpans.push(span)
    const rows = batch.slice(range.fromTime, range.toTime)
    if (rows.length < batch.length) {
      this.before = openTimes(batch.slice(-Infinity, range.fromTime)).at(-1) ?? this.before
      this.after ??= openTimes(batch.slice(range.toTime, Infinity))[0]
    }
    if (rows.length === 0) return
    this.firstOpenTime ??= rows.openTime(0)
    this.lastOpenTime = rows.lastOpenTime
    table.add(rows)
  }

  /** The time about which something is known. Nothing is known after the last candle: that may be the present. */
  private get coverage(): TimeRange {
    const { range, series, after, before, lastOpenTime = before } = this
    const end = after ?? (lastOpenTime === undefined ? -Infinity : nextOpenTime(series.interval, lastOpenTime))
    return { fromTime: range.fromTime, toTime: Math.min(range.toTime, end) }
  }
}

function openTimes(batch: KlineBatch): number[] {
  return Array.from({ length: batch.length }, (_, row) => batch.openTime(row))
}
