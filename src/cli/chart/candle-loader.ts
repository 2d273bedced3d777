import { CandleFitter } from '../../chart/candle-fitter.js'
import type { FittedCandles } from '../../chart/chart-candle.js'
import { type CoveredSeries, coverPlan } from '../../download/coverage.js'
import type { KlinesRequest } from '../../download/download.js'
import { joinNames, noCandles } from '../../download/errors.js'
import { type EventOptions, toWarn } from '../../download/events.js'
import { planNewest } from '../../download/newest-windows.js'
import { planWindows, type SeriesPlan } from '../../download/plan.js'
import { requestRange } from '../../download/request-range.js'
import { parseSelection } from '../../download/selection.js'
import { openMirror, openSource } from '../../download/sources/open-source.js'
import type { WindowSource } from '../../download/sources/window-source.js'
import { DownloadTally } from '../../download/tally.js'
import { readWindows, streamWindows } from '../../download/window-stream.js'
import { type ExportSeries, selectSeries } from '../../export/export-series.js'
import { QUICK_POLICY, RETRY_POLICY } from '../../http/retry.js'
import { KlinesError } from '../../klines/errors.js'
import type { Interval } from '../../klines/intervals.js'
import { CandleGrid } from '../../klines/resample/candle-grid.js'
import { slotAfter, toTarget } from '../../klines/resample/target-interval.js'
import { type Series, seriesName, type WindowRef } from '../../klines/series.js'
import { plural } from '../../klines/text.js'
import type { RequestedRange } from '../../klines/time-range.js'

/** Which candles a chart shows. */
export interface ChartRequest extends KlinesRequest {
  /** Make no request. */
  readonly offline?: boolean | undefined
  /** Draw what is cached, with a note on what is not. Default: for `offline` without a start of the range. */
  readonly cachedOnly?: boolean | undefined
  /** Length of the candles to draw, such as `3h`. */
  readonly resample?: string | undefined
}

/** Loads the candles of charts. It stays open, so that more of them need only the requests for those. */
export class CandleLoader {
  /** How much of the range each series has, once it was loaded. */
  coverage: readonly CoveredSeries[] = []

  private constructor(
    readonly source: WindowSource,
    readonly range: RequestedRange,
    private readonly series: readonly ExportSeries[],
    private readonly startDates: ReadonlyMap<Interval, readonly string[]>,
    private readonly request: ChartRequest,
  ) {}

  /** Downloads or reads the lists. Throws what is wrong with the request, and what `openSource` throws. */
  static async open(request: ChartRequest): Promise<CandleLoader> {
    // A person waits, and what is cached can be drawn instead.
    const policy = openMirror(request).contents.symbols().length > 0 ? QUICK_POLICY : RETRY_POLICY
    const source = await openSource(request, { memory: new Map(), policy })
    try {
      const range = await requestRange(request, source)
      const series = await selectSeries({ resample: request.resample }, source, parseSelection(request), range)
      const intervals = [...new Set(series.map(({ source: { interval } }) => interval))]
      const lists = await Promise.all(
        intervals.map(async interval => [interval, await source.contents.startDates(interval)] as const),
      )
      return new CandleLoader(source, range, series, new Map(lists), request)
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** Without a start of the range, a chart shows the newest candles that fit. */
  private get keepsNewest(): boolean {
    return this.range.fromTime === -Infinity
  }

  /**
   * The candles of each series with candles in the range. Throws `incomplete` when a window could not be downloaded or read, and
   * `no_candles`.
   */
  async load(maxCandles: number, events: EventOptions = {}): Promise<FittedCandles<Series>[]> {
    const { source, request, range } = this
    this.checkCached()
    const mirror = openMirror(request)
    const keep = this.keepsNewest ? 'newest' : 'all'
    const fitters = new Map<SeriesPlan, CandleFitter<Series>>()
    for (const made of this.series) {
      const plan = this.withoutMissing(await this.plan(made, maxCandles))
      const anchor = mirror.windows.firstOpenTime({ symbol: made.symbol, interval: '3d' })
      fitters.set(plan, new CandleFitter(made.source, { maxCandles, keep, resample: made.resampleTo, anchor }))
    }
    const plans = [...fitters.keys()]
    const tally = new DownloadTally(source, { range, series: plans }, events)
    const windows = source.info.offline
      ? readWindows(source, plans, request.signal)
      : streamWindows(source, plans, request)
    for await (const { run, result } of windows) {
      tally.add(run, result)
      if (result.status !== 'failed') fitters.get(run)?.add(result.batch)
    }
    if (tally.hasFailed) tally.report()
    const reports = tally.seriesReports
    this.coverage = plans.map((plan, index) => {
      const { resampleTo } = this.series[index]
      const made = { ...plan, resampleTo }
      return { ...plan.series, coverage: coverPlan({ source, range, partial: true }, made, reports[index]) }
    })
    const charts = [...fitters.values()].map(fitter => fitter.end())
    const empty = charts.filter(({ candles }) => candles === 0).map(({ series }) => seriesName(series))
    if (empty.length === charts.length) throw noCandles({ series: plans, range }, source.info, 'nothing is drawn')
    if (empty.length > 0) toWarn(request)(`No candles in the range: ${joinNames(empty)}.`)
    return charts.filter(({ candles }) => candles > 0)
  }

  close(): Promise<void> {
    return this.source.close()
  }

  private async plan({ source: series, resampleTo }: ExportSeries, maxCandles: number): Promise<SeriesPlan> {
    const { source, range } = this
    const cached = source.contents.cachedStartDates(series)
    const listed = this.startDates.get(series.interval) ?? []
    const startDates = [...new Set([...listed, ...cached])].sort()
    const neededUntil = source.contents.neededUntil(series, range.toTime)
    const plan = { series, range, windows: planWindows(series, startDates, range, neededUntil), listedFrom: undefined }
    if (!this.keepsNewest) return plan
    const windows = this.drawsCached ? plan.windows.filter(({ startDate }) => cached.includes(startDate)) : plan.windows
    const length = resampleTo ?? toTarget(series.interval)
    const grid = resampleTo && new CandleGrid(resampleTo, series.symbol)
    const newest = await planNewest(source, { ...plan, windows }, newest =>
      slotAfter(length, grid?.start(newest) ?? newest, 1 - maxCandles),
    )
    // Windows between two cached ones are missing, not empty.
    const last = newest.windows[newest.windows.length - 1]?.startDate ?? ''
    const between = planWindows(series, startDates, newest.range, neededUntil).filter(
      ({ startDate }) => startDate <= last,
    )
    return { ...newest, windows: between }
  }

  /** With `cachedOnly`, the candles of windows that are not cached are missing from a chart, which a note says. */
  private withoutMissing(plan: SeriesPlan): SeriesPlan {
    if (!this.drawsCached) return plan
    const isCached = (window: WindowRef) => this.source.costs.cacheState(window) === 'cached' || this.isCorrupt(window)
    const windows = plan.windows.filter(isCached)
    const missing = plan.windows.length - windows.length
    if (missing > 0 && windows.length > 0) {
      const name = seriesName(plan.series)
      toWarn(this.request)(
        `${name}: ${plural(missing, 'window')} of the range not cached; the chart lacks their candles.`,
      )
    }
    return { ...plan, windows }
  }

  /** Throws `window_missing` when nothing of any series is cached, and only that counts. */
  private checkCached(): void {
    const { source, series } = this
    if (!this.drawsCached || series.some(made => source.contents.hasSeries(made.source))) return
    const names = joinNames(series.map(made => seriesName(made.source)))
    throw new KlinesError('window_missing', `Not in the mirror: ${names}.`, { suggestions: [source.info.advice] })
  }

  /** A corrupt window is an error, not a gap. */
  private isCorrupt(window: WindowRef): boolean {
    return this.source.contents.cachedStartDates(window).includes(window.startDate)
  }

  private get drawsCached(): boolean {
    return this.request.cachedOnly ?? (this.source.info.offline && this.keepsNewest)
  }
}
