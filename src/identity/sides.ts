import { isKlinesError, KlinesError } from '../candles/errors.js'
import { isInterval } from '../candles/intervals.js'
import { type Series, type SeriesLabel, seriesName, type WindowRef, windowOf } from '../candles/series.js'
import type { RequestedRange, TimeRange } from '../candles/time-range.js'
import { startDateAt } from '../candles/windows.js'
import { type Coverage, coverPlan } from '../engine/coverage.js'
import { downloadPlan } from '../engine/klines.js'
import { planSeries } from '../engine/plan.js'
import { readPlan } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import { openRun, type Run, type SourceOptions } from '../engine/run.js'
import { planWindows, type SeriesPlan } from '../engine/windows.js'
import type { WindowFailure } from '../mirror/errors.js'
import { NOT_CACHED } from '../mirror/errors.js'
import { firstCandle, newestCandle } from '../mirror/status.js'
import type { ComparedCandles } from './compare-candles.js'
import { openCandles } from './fingerprint.js'

/** The candles of a series on one side, and which of them cannot be compared. */
export interface SideCandles extends ComparedCandles {
  /** Windows that are missing where the other side has candles, and corrupt ones: complete when all candles were read. */
  readonly failures?: readonly WindowFailure[]
  /** How much of the requested range the side has, when all candles were read; undefined for a file, and without a named end. */
  coverage?(): Coverage | undefined
}

/** One of the two things that are compared. */
export interface DiffSide {
  readonly name: string
  readonly kind: 'file' | 'mirror' | 'service'
  /** Base address that the candles come from; undefined for a file, and for a mirror that does not say it. */
  readonly baseUrl?: string | undefined
  /** The series that it has; of a service they are not listed. */
  readonly series: readonly SeriesLabel[]
  /** The open times of a series from the first candle to the last one; undefined without any. */
  span(series: SeriesLabel): TimeRange | undefined
  /** Downloads what a service has of these series. Throws what `downloadKlines` throws about windows and the service. */
  prepare?(wanted: readonly { readonly series: SeriesLabel; readonly range: TimeRange }[]): Promise<void>
  open(series: SeriesLabel, range: TimeRange): SideCandles
  close?(): Promise<void>
}

/** A mirror as it is, or a service through its own mirror. Throws what `openRun` throws. */
export async function openTreeSide(
  name: string,
  options: SourceOptions & { readonly offline?: boolean },
  requested: RequestedRange,
): Promise<DiffSide> {
  const run = await openRun(options)
  const { mirror } = run
  const downloaded = new Map<string, readonly WindowRef[]>()
  const toSeries = ({ symbol, interval }: SeriesLabel): Series => {
    if (isInterval(interval)) return { symbol, interval }
    const message = `${symbol} ${interval} is resampled, and ${name} has only candles as they are.`
    const advice = `Export it with --resample ${interval} to a file, and compare the files.`
    throw new KlinesError('bad_option', message, { suggestions: [advice] })
  }
  return {
    name,
    kind: run.source ? 'service' : 'mirror',
    baseUrl: run.source?.name ?? mirror.source,
    series: run.source ? [] : mirror.series(),
    span(label) {
      const series = toSeries(label)
      const [first, last] = [firstCandle(mirror, series), newestCandle(mirror, series)]
      return first === undefined || last === undefined ? undefined : { fromTime: first, toTime: last + 1 }
    },
    async prepare(wanted) {
      if (!run.source) return
      const named = wanted.map(({ series, range }) => ({ series: toSeries(series), label: series, range }))
      const series = await planSeries(named, requested, run)
      for (const one of series) downloaded.set(seriesName(one.series), one.windows)
      try {
        await downloadPlan({ range: requested, series, gone: [] }, run)
      } catch (error) {
        // The other side has candles: that is a difference.
        if (!isKlinesError(error, 'no_candles')) throw error
      }
    },
    open(label, range) {
      const series = toSeries(label)
      const windows = planWindows(series, mirror.dates(series), range, Infinity)
      const plan = { series, label: series, range, windows: downloaded.get(seriesName(series)) ?? windows }
      return openPlan(run, plan, requested)
    },
    close: () => run.close(),
  }
}

/** The candles in the windows of a mirror. */
function openPlan(run: Run, plan: SeriesPlan, requested: RequestedRange): SideCandles {
  const { series, range, windows } = plan
  const tally = new Tally({ range: requested, series: [plan], gone: [] }, { ...run, emit: () => {} })
  const there = new Set(windows.map(({ startDate }) => startDate))
  const lacked = new Map<string, WindowFailure>()
  return {
    get failures() {
      return [...tally.failures, ...lacked.values()]
    },
    async *batches() {
      const reading = readPlan({ ...run, source: undefined }, tally, { afterFailure: true })
      for await (const [, batches] of reading) yield* batches
    },
    lacks(openTime) {
      const startDate = startDateAt(series.interval, openTime)
      if (there.has(startDate)) return tally.failures.some(({ window }) => window.startDate === startDate)
      if (run.source) return false
      lacked.set(startDate, { window: windowOf(series, startDate), status: 'failed', reason: NOT_CACHED })
      return true
    },
    coverage() {
      // An end that is that of the other side's candles was not named for this one.
      const to = range.toTime < requested.toTime ? undefined : requested.named.to
      const { from } = requested.named
      if (from === undefined && to === undefined) return undefined
      const scope = { rules: run.mirror.rules, begin: firstCandle(run.mirror, series) }
      return coverPlan(plan, { ...requested, named: { from, to } }, tally.reports[0], scope)
    },
  }
}

/**
 * A file, or the folder of a lake. It is read once to list its series, and again for each of them. Throws `bad_input` and `damaged_input`.
 */
export async function openFileSide(name: string, signal: AbortSignal): Promise<DiffSide> {
  const file = await openCandles(name)
  const listed = new Map<string, { readonly series: SeriesLabel } & TimeRange>()
  for await (const { series, firstOpenTime = 0, lastOpenTime = 0 } of file.batches()) {
    signal.throwIfAborted()
    const { fromTime } = listed.get(seriesName(series)) ?? { fromTime: firstOpenTime }
    listed.set(seriesName(series), { series, fromTime, toTime: lastOpenTime + 1 })
  }
  return {
    name,
    kind: 'file',
    series: [...listed.values()].map(({ series }) => series),
    span: series => listed.get(seriesName(series)),
    open: (series, { fromTime, toTime }) => ({
      async *batches() {
        for await (const batch of file.batches(series)) {
          signal.throwIfAborted()
          yield batch.slice(fromTime, toTime)
        }
      },
    }),
  }
}
