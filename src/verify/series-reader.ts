import type { SlicedSeries } from '../klines/audit/checked-series.js'
import { type Inspection, SeriesInspector } from '../klines/audit/inspect.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { findFinerRow } from '../klines/batch/window-codec.js'
import type { Interval } from '../klines/intervals.js'
import type { CandleTable } from '../klines/kernel/candle-table.js'
import type { Kernel } from '../klines/kernel/kernel.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowName, windowOf } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { formatDate, parseDate, type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { EMPTY_WINDOW_BYTES } from '../mirror/mirror-contents.js'
import type { RecordedCandles } from '../mirror/record-lines.js'
import type { WindowEnds } from '../trees/window-ends.js'
import { KnownTime, type LastCandle } from './known-time.js'

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
  /** The interval of the symbol that has a later candle, if this series may have been downloaded before there was one. */
  readonly olderThan: Interval | undefined
}

/** Reads the windows of a series into a table, slice by slice of time, and inspects every candle. */
export class SeriesReader implements SlicedSeries {
  readonly series: Series
  firstOpenTime: number | undefined
  /** Number of windows that were read. */
  done = 0
  /** Windows that start later and have no file are empty, ms UTC. */
  private readonly emptyAfter: number
  private readonly known: KnownTime
  /** Undefined without a range: every cached window is read. */
  private readonly neighbours: NeighbourCandles | undefined
  /** The windows of finer series: their candles are not off the grid because the exchange has them so. */
  private readonly finerSpans: WindowSpan[] = []
  private readonly recorded: RecordedCandles | undefined
  private readonly corrupt: { startDate: string; reason: string }[] = []
  private readonly missingWindows: string[] = []
  private windows = 0
  private inspector: SeriesInspector | undefined

  /** `range`: the open times of the candles to read. `neededUntil`: a window without a file that starts later is not missing. */
  constructor(
    private readonly mirror: Mirror,
    private readonly plan: SeriesWindows,
    readonly table: CandleTable,
    private readonly range: TimeRange,
    private readonly neededUntil: number,
  ) {
    this.series = { symbol: plan.symbol, interval: plan.interval }
    this.emptyAfter = mirror.contents.missingMeansEmpty(this.series) ? -Infinity : neededUntil
    this.recorded = mirror.record.seriesCandles(this.series)
    this.known = new KnownTime(plan.interval, range)
    const isAllTime = range.fromTime === -Infinity && range.toTime === Infinity
    this.neighbours = isAllTime ? undefined : new NeighbourCandles(mirror, this.series, table.kernel)
  }

  /** Whether all windows were read. */
  get isDone(): boolean {
    return this.done === this.plan.startDates.length
  }

  get spans(): WindowSpan[] {
    return this.known.loaded
  }

  get before(): number | undefined {
    return this.known.before
  }

  /** The last candle that was read, which may open after the range. */
  get lastCandle(): LastCandle | undefined {
    return this.known.lastCandle
  }

  /** Takes notice of the last candles of all series of the symbol: they show how long it was traded. */
  compareEnds(lastCandles: readonly LastCandle[]): void {
    this.known.others = lastCandles
  }

  /**
   * Reads windows until the table has a candle that opens at `time` (ms UTC) or later, or all are read, and inspects the new
   * candles. Throws `digits_lost` for a decimal too long for exact sums, and `mirror_unusable`.
   */
  readTo(time: number): void {
    const { table, plan, known, neighbours } = this
    const { startDates } = plan
    const start = table.length
    if (this.done === 0 && startDates.length > 0) known.before = neighbours?.lastBefore(startDates[0])
    while (!this.isDone && !(known.lastOpenTime !== undefined && known.lastOpenTime >= time)) {
      this.readWindow(startDates[this.done++])
      if (this.isDone) known.after ??= neighbours?.firstAfter(startDates[this.done - 1], this.neededUntil)
    }
    this.openInspector().add(table, start, known.all, this.finerSpans)
  }

  /** The findings when all is read. */
  end(): SeriesInspection {
    const { series, known, windows, missingWindows, corrupt } = this
    const inspection = this.openInspector().end(known.all, known.tradedUntil)
    const olderThan = known.laterCandle?.interval
    return { ...series, ...inspection, windows, missingWindows, corrupt, olderThan }
  }

  /** Once something is read, the first candle and the one before it are known. */
  private openInspector(): SeriesInspector {
    this.inspector ??= new SeriesInspector(this.series, this.firstOpenTime, this.before)
    return this.inspector
  }

  /**
   * The first or last candle of the series that was ever downloaded, if it opens in this span and the window lacks it by now, ms UTC.
   * A new version of a window never has fewer candles.
   */
  private findLost({ startTime, endTime }: WindowSpan, ends: WindowEnds = {}): number | undefined {
    const { firstOpenTime, lastOpenTime } = this.recorded ?? {}
    const { firstOpenTime: first = Infinity, lastOpenTime: last = -Infinity } = ends
    const isHere = (time: number | undefined): time is number =>
      time !== undefined && time >= startTime && time < endTime
    if (isHere(lastOpenTime) && last < lastOpenTime) return lastOpenTime
    return isHere(firstOpenTime) && first > firstOpenTime ? firstOpenTime : undefined
  }

  private readWindow(startDate: string): void {
    const { mirror, series, range, table, known } = this
    const window = windowOf(series, startDate)
    const span = windowSpan(window)
    const read = mirror.windows.readInPlace(window, table.kernel)
    const lost = this.findLost(span, read.state === 'cached' ? read.batch : undefined)
    if (read.state === 'missing') {
      if (lost !== undefined || parseDate(startDate) <= this.emptyAfter) this.missingWindows.push(startDate)
      else known.addEmpty(span)
      return
    }
    this.windows++
    if (read.state === 'corrupt') {
      this.corrupt.push({ startDate, reason: read.error.message.replace(`${windowName(window)}: `, '') })
      return
    }
    if (lost !== undefined) {
      const time = new Date(lost).toISOString()
      const reason = `it lacks the candle of ${time}, which the mirror has had; download with --refresh replaces it`
      this.corrupt.push({ startDate, reason })
    }
    const { batch } = read
    known.addLoaded(span, batch.length > 0, mirror.windows.settledUntil(window, read))
    if (findFinerRow(batch) !== undefined) this.finerSpans.push(span)
    const rows = batch.slice(range.fromTime, range.toTime)
    if (rows.length < batch.length) {
      known.before = batch.slice(-Infinity, range.fromTime).lastOpenTime ?? known.before
      known.after ??= openTimes(batch.slice(range.toTime, Infinity))[0]
    }
    if (rows.length === 0) return
    this.firstOpenTime ??= rows.openTime(0)
    known.lastOpenTime = rows.lastOpenTime
    table.add(rows)
  }
}

function openTimes(batch: KlineBatch): number[] {
  return Array.from({ length: batch.length }, (_, row) => batch.openTime(row))
}

/** The cached candles next to some windows of a series: they show that the series did not begin or end there. */
class NeighbourCandles {
  constructor(
    private readonly mirror: Mirror,
    private readonly series: Series,
    private readonly kernel: Kernel,
  ) {}

  /** Open time of the last candle in the windows before `startDate`, ms UTC; undefined when none is cached. */
  lastBefore(startDate: string): number | undefined {
    const earlier = this.mirror.contents.startDates(this.series).filter(date => date < startDate)
    return this.firstFound(earlier.reverse())?.lastOpenTime
  }

  /** Open time of the first candle in the windows after `startDate` that start by `neededUntil`, ms UTC; undefined when none is cached. */
  firstAfter(startDate: string, neededUntil: number): number | undefined {
    const last = formatDate(neededUntil)
    const later = this.mirror.contents.startDates(this.series).filter(date => date > startDate && date <= last)
    return this.firstFound(later)?.firstOpenTime
  }

  /** The candles of the first of these windows that has any; a corrupt one says nothing. */
  private firstFound(startDates: readonly string[]) {
    const { mirror, series, kernel } = this
    for (const startDate of startDates) {
      const window = windowOf(series, startDate)
      if (mirror.files.size(windowPath(window)) <= EMPTY_WINDOW_BYTES) continue
      const read = mirror.windows.readInPlace(window, kernel)
      if (read.state !== 'cached' || read.batch.length === 0) continue
      return { firstOpenTime: read.batch.openTime(0), lastOpenTime: read.batch.lastOpenTime }
    }
    return undefined
  }
}
