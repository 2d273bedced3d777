import { coverSeries } from '../download/coverage.js'
import { downloadSeries } from '../download/download.js'
import { planSeries, planWindows, type SeriesPlan } from '../download/plan.js'
import { MirrorSource } from '../download/sources/mirror-source.js'
import { openSource } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import type { WindowFailure, WindowSource } from '../download/sources/window-source.js'
import { DownloadTally } from '../download/tally.js'
import { readWindows, type WindowRun } from '../download/window-stream.js'
import type { Coverage } from '../klines/audit/coverage.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { EXCHANGE_INTERVALS, isInterval } from '../klines/intervals.js'
import { type Series, type SeriesLabel, seriesName, windowOf } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { startDateAt, windowSpan } from '../klines/windows.js'
import { Mirror } from '../mirror/mirror.js'
import type { DiffSide, SideCandles } from './side.js'

/** What the side of a service is told. */
export interface ServiceOptions extends SourceOptions {
  /** The range that was requested. */
  readonly range: RequestedRange
}

/** The folder of a mirror, read as it is. Throws `mirror_unusable` and `mirror_mismatch`. */
export function openMirrorSide(
  name: string,
  { range: requested, warn, signal }: { range: RequestedRange; warn: (warning: string) => void; signal: AbortSignal },
): DiffSide {
  const mirror = new Mirror(name)
  const source = new MirrorSource(mirror, { now: requested.now, warn })
  const all = mirror.contents
    .symbols()
    .flatMap(symbol => EXCHANGE_INTERVALS.map(interval => ({ symbol, interval })))
    .filter(series => mirror.contents.hasSeries(series))
  return {
    name,
    kind: 'mirror',
    baseUrl: source.info.baseUrl,
    series: all,
    span: label => findSpan(mirror, toSeries(label, name)),
    prepare: async () => {},
    open: (label, range) => {
      const series = toSeries(label, name)
      const dates = mirror.contents.startDates(series)
      const windows = planWindows(series, dates, range, Infinity)
      return new TreeCandles(source, { series, range, windows, requested }, new Set(dates), signal)
    },
    close: () => source.close(),
  }
}

/** A service through its own mirror. Throws `bad_base_url`, `bad_option` and `mirror_mismatch`. */
export async function openServiceSide(name: string, options: ServiceOptions, signal: AbortSignal): Promise<DiffSide> {
  const source = await openSource({ ...options, signal }, { memory: new Map() })
  const plans = new Map<string, SeriesPlan>()
  return {
    name,
    kind: 'service',
    baseUrl: source.info.baseUrl,
    series: [],
    span: () => undefined,
    async prepare(ranges) {
      await source.prepare()
      const plan = { range: options.range, series: await planSeries(source, ranges) }
      const tally = new DownloadTally(source, plan, options)
      await downloadSeries(source, plan.series, tally, { ...options, signal })
      try {
        tally.report()
      } catch (error) {
        // The other side has candles: that is a difference.
        if (!isKlinesError(error, 'no_candles')) throw error
      }
      for (const one of plan.series) plans.set(seriesName(one.series), one)
    },
    open(label, range) {
      const series = toSeries(label, name)
      const { windows = [] } = plans.get(seriesName(series)) ?? {}
      return new TreeCandles(source, { series, range, windows, requested: options.range }, undefined, signal)
    },
    close: () => source.close(),
  }
}

/** The series of a tree. Throws `bad_option` for candles that were resampled. */
function toSeries({ symbol, interval }: SeriesLabel, name: string): Series {
  if (isInterval(interval)) return { symbol, interval }
  throw new KlinesError('bad_option', `${symbol} ${interval} is resampled, and ${name} has only candles as they are.`, {
    suggestions: [`Export it with \`resample: '${interval}'\` to a file, and compare the files.`],
  })
}

/** The open times from the first cached candle of a series to the last one; of a corrupt window, all of its time. */
function findSpan(mirror: Mirror, series: Series): TimeRange | undefined {
  const ends = (startDate: string): TimeRange[] => {
    const window = windowOf(series, startDate)
    const read = mirror.windows.readInPlace(window)
    if (read.state === 'missing') return []
    const span = windowSpan(window)
    if (read.state === 'corrupt') return [{ fromTime: span.startTime, toTime: span.endTime }]
    const { firstOpenTime, lastOpenTime } = read.batch
    return firstOpenTime === undefined || lastOpenTime === undefined
      ? []
      : [{ fromTime: firstOpenTime, toTime: lastOpenTime + 1 }]
  }
  const dates = mirror.contents.startDates(series)
  const findFirst = (dates: readonly string[]) => {
    for (const date of dates) for (const found of ends(date)) return found
    return undefined
  }
  const [first, last] = [findFirst(dates), findFirst(dates.toReversed())]
  return first && last && { fromTime: first.fromTime, toTime: last.toTime }
}

/** The candles of a series to read, and the range that they were requested for. */
interface TreePlan extends WindowRun {
  readonly series: Series
  readonly requested: RequestedRange
}

/** The windows of a series. */
class TreeCandles implements SideCandles {
  readonly failures: WindowFailure[] = []
  private readonly failed = new Set<string>()
  private firstOpenTime: number | undefined
  private lastOpenTime: number | undefined

  /** `cached`: the startDates that are there; undefined where a window without a file has no candle. */
  constructor(
    private readonly source: WindowSource,
    private readonly plan: TreePlan,
    private readonly cached: ReadonlySet<string> | undefined,
    private readonly signal: AbortSignal,
  ) {}

  async *batches(): AsyncGenerator<KlineBatch> {
    for await (const { result } of readWindows(this.source, [this.plan], this.signal)) {
      if (result.status === 'failed') this.fail(result)
      else {
        this.firstOpenTime ??= result.batch.firstOpenTime
        this.lastOpenTime = result.batch.lastOpenTime ?? this.lastOpenTime
        yield result.batch
      }
    }
  }

  coverage(): Coverage | undefined {
    const { source, firstOpenTime, lastOpenTime } = this
    const { series, range, requested } = this.plan
    // An end that is that of the other side's candles was not named for this one.
    const to = range.toTime < requested.toTime ? undefined : requested.named.to
    const named = { from: requested.named.from, to }
    if (named.from === undefined && to === undefined) return undefined
    const times = { firstOpenTime, lastOpenTime }
    return coverSeries(series, { ...requested, named }, times, source.info.first(series))
  }

  lacks(openTime: number): boolean {
    const { cached, failed, plan } = this
    const startDate = startDateAt(plan.series.interval, openTime)
    if (failed.has(startDate)) return true
    if (cached === undefined || cached.has(startDate)) return false
    this.fail({ window: windowOf(plan.series, startDate), status: 'failed', reason: 'not in the mirror' })
    return true
  }

  private fail(failure: WindowFailure): void {
    this.failed.add(failure.window.startDate)
    this.failures.push(failure)
  }
}
