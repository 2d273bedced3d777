import { isKlinesError, KlinesError } from '../candles/errors.js'
import { isInterval } from '../candles/intervals.js'
import { type Series, type SeriesLabel, seriesName, type WindowRef, windowOf } from '../candles/series.js'
import type { RequestedRange, TimeRange } from '../candles/time-range.js'
import { startDateAt, windowSpan } from '../candles/windows.js'
import { type Coverage, coverPlan } from '../engine/coverage.js'
import { downloadPlan } from '../engine/download.js'
import type { WindowFailure } from '../engine/outcome.js'
import { planSeries } from '../engine/plan.js'
import { NOT_CACHED, readWindows } from '../engine/read.js'
import { openRun, type Run, type SourceOptions } from '../engine/run.js'
import { firstCandle, newestCandle } from '../mirror/status.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { openCandleFile } from './candle-file.js'
import type { ComparedCandles } from './compare-candles.js'

/** The candles of a series on one side, and which of them cannot be compared. */
export interface SideCandles extends ComparedCandles {
  /** Windows that are missing where the other side has candles, and corrupt ones: complete when all candles were read. */
  readonly failures: readonly WindowFailure[]
  /** How much of the requested range the side has, when all candles were read; undefined for a file, and without a named end. */
  coverage(): Coverage | undefined
}

/** One of the two things that are compared. */
export interface DiffSide {
  /** As the user named it. */
  readonly name: string
  /** A mirror and a service have candles of the exchange's intervals, and a mirror may lack windows. */
  readonly kind: 'file' | 'mirror' | 'service'
  /** Base address that the candles come from; undefined for a file, and for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** The series that it has; of a service they are not listed. */
  readonly series: readonly SeriesLabel[]
  /** The open times of a series from the first candle to the last one; undefined without any. */
  span(series: SeriesLabel): TimeRange | undefined
  /** Downloads what a service has of these series. Throws what `downloadKlines` throws about windows and the service. */
  prepare(wanted: readonly { readonly series: Series; readonly range: TimeRange }[]): Promise<void>
  /** The candles of a series in a range. */
  open(series: SeriesLabel, range: TimeRange): SideCandles
  close(): Promise<void>
}

/** A mirror as it is, or a service through its own mirror. Throws what `openRun` throws. */
export async function openTreeSide(
  name: string,
  options: SourceOptions & { readonly offline?: boolean },
  requested: RequestedRange,
): Promise<DiffSide> {
  const run = await openRun(options)
  const { mirror } = run
  const windows = new Map<string, readonly WindowRef[]>()
  return {
    name,
    kind: run.source ? 'service' : 'mirror',
    baseUrl: run.source?.name ?? mirror.source,
    series: run.source ? [] : mirror.series(),
    span(label) {
      const series = toSeries(label, name)
      const [first, last] = [firstCandle(mirror, series), newestCandle(mirror, series)]
      return first === undefined || last === undefined ? undefined : { fromTime: first, toTime: last + 1 }
    },
    async prepare(wanted) {
      if (!run.source) return
      const series = await planSeries(
        wanted.map(one => ({ ...one, label: one.series })),
        requested,
        run,
      )
      for (const one of series) windows.set(seriesName(one.series), one.windows)
      try {
        await downloadPlan({ range: requested, series, gone: [] }, run)
      } catch (error) {
        // The other side has candles: that is a difference.
        if (!isKlinesError(error, 'no_candles')) throw error
      }
    },
    open(label, range) {
      const series = toSeries(label, name)
      const found = windows.get(seriesName(series)) ?? cachedWindows(run, series, range)
      return new TreeCandles(run, { series, range, requested, windows: found })
    },
    close: () => run.close(),
  }
}

function cachedWindows({ mirror }: Run, series: Series, { fromTime, toTime }: TimeRange): WindowRef[] {
  const windows = mirror.dates(series).map(startDate => windowOf(series, startDate))
  return windows.filter(window => windowSpan(window).endTime > fromTime && windowSpan(window).startTime < toTime)
}

/** The series of a tree. Throws `bad_option` for candles that were resampled. */
function toSeries({ symbol, interval }: SeriesLabel, name: string): Series {
  if (isInterval(interval)) return { symbol, interval }
  throw new KlinesError('bad_option', `${symbol} ${interval} is resampled, and ${name} has only candles as they are.`, {
    suggestions: [`Export it with --resample ${interval} to a file, and compare the files.`],
  })
}

/** The windows of a series in a mirror. */
class TreeCandles implements SideCandles {
  readonly failures: WindowFailure[] = []
  private readonly failed = new Set<string>()
  private readonly there: ReadonlySet<string>
  private firstOpenTime: number | undefined
  private lastOpenTime: number | undefined

  constructor(
    private readonly run: Run,
    private readonly plan: {
      series: Series
      range: TimeRange
      requested: RequestedRange
      windows: readonly WindowRef[]
    },
  ) {
    this.there = new Set(plan.windows.map(({ startDate }) => startDate))
  }

  async *batches(): AsyncGenerator<KlineBatch> {
    const { fromTime, toTime } = this.plan.range
    for await (const result of readWindows(this.run, [this.plan])) {
      if (result.status === 'failed') this.fail(result)
      else if (result.status !== 'absent') {
        const batch = result.batch.slice(fromTime, toTime)
        this.firstOpenTime ??= batch.firstOpenTime
        this.lastOpenTime = batch.lastOpenTime ?? this.lastOpenTime
        yield batch
      }
    }
  }

  coverage(): Coverage | undefined {
    const { firstOpenTime, lastOpenTime } = this
    const { mirror } = this.run
    const { series, range, windows, requested } = this.plan
    // An end that is that of the other side's candles was not named for this one.
    const to = range.toTime < requested.toTime ? undefined : requested.named.to
    const named = { from: requested.named.from, to }
    if (named.from === undefined && to === undefined) return undefined
    const scope = { rules: mirror.rules, begin: firstCandle(mirror, series) }
    return coverPlan(
      { series, label: series, windows },
      { ...requested, named },
      { firstOpenTime, lastOpenTime },
      scope,
    )
  }

  lacks(openTime: number): boolean {
    const { series } = this.plan
    const startDate = startDateAt(series.interval, openTime)
    if (this.failed.has(startDate)) return true
    if (this.run.source || this.there.has(startDate)) return false
    this.fail({ window: windowOf(series, startDate), status: 'failed', reason: NOT_CACHED })
    return true
  }

  private fail(failure: WindowFailure): void {
    this.failed.add(failure.window.startDate)
    this.failures.push(failure)
  }
}

/** A series of a file: its first and last batch, by their numbers, and its ends, ms UTC. */
interface FileSeries {
  readonly series: SeriesLabel
  readonly firstBatch: number
  readonly firstOpenTime: number
  lastBatch: number
  lastOpenTime: number
}

/**
 * A file, or the folder of a lake. It is read once to list its series, and again for each of them. Throws `bad_input` and `damaged_input`.
 */
export async function openFileSide(name: string, signal: AbortSignal): Promise<DiffSide> {
  const file = await openCandleFile(name)
  const listed = new Map<string, FileSeries>()
  let index = 0
  for await (const batch of file.batches()) {
    signal.throwIfAborted()
    const { firstOpenTime, lastOpenTime, series } = batch
    if (firstOpenTime !== undefined && lastOpenTime !== undefined) {
      const known = listed.get(seriesName(series))
      if (known) Object.assign(known, { lastBatch: index, lastOpenTime })
      else listed.set(seriesName(series), { series, firstBatch: index, lastBatch: index, firstOpenTime, lastOpenTime })
    }
    index++
  }
  return {
    name,
    kind: 'file',
    baseUrl: undefined,
    series: [...listed.values()].map(({ series }) => series),
    span: label => {
      const found = listed.get(seriesName(label))
      return found && { fromTime: found.firstOpenTime, toTime: found.lastOpenTime + 1 }
    },
    prepare: async () => {},
    open: (label, { fromTime, toTime }) => {
      const found = listed.get(seriesName(label))
      return {
        failures: [],
        lacks: () => false,
        coverage: () => undefined,
        async *batches() {
          let index = 0
          if (found === undefined) return
          for await (const batch of file.batches()) {
            signal.throwIfAborted()
            if (index++ > found.lastBatch) return
            if (seriesName(batch.series) === seriesName(found.series)) yield batch.slice(fromTime, toTime)
          }
        },
      }
    },
    close: async () => {},
  }
}
