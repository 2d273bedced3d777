import { KlinesError } from '../candles/errors.js'
import { isInterval } from '../candles/intervals.js'
import { type Series, type SeriesLabel, seriesName, windowOf } from '../candles/series.js'
import { planWindows, type RequestedRange, type TimeRange } from '../candles/time-range.js'
import { startDateAt } from '../candles/windows.js'
import { findOfSource } from '../engine/find-windows.js'
import { readPlan } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import { openRun, quiet, type Run, type SeriesPlan, type SourceOptions } from '../engine/run.js'
import { seriesBeginning } from '../mirror/beginning.js'
import { NOT_CACHED, type WindowFailure } from '../mirror/errors.js'
import { firstCandle, newestCandle, sumOf } from '../mirror/status.js'
import { type Coverage, coverRange } from '../rows/coverage.js'
import type { ComparedCandles } from './compare-candles.js'
import { openCandles } from './fingerprint.js'

interface SideCandles extends ComparedCandles {
  /** Windows that are corrupt, or missing where the other side has candles, when all candles were read. */
  failures(): readonly WindowFailure[]
  /** How much of a range there is, once all candles were read. */
  coverage(range: RequestedRange): Coverage
}

export interface DiffSide {
  readonly name: string
  readonly kind: 'file' | 'mirror' | 'service'
  readonly baseUrl: string | undefined
  /** The series that it has; of a service they are not listed. */
  readonly series: readonly SeriesLabel[]
  span(series: SeriesLabel): TimeRange | undefined
  /** Finds which windows a service has of these series. */
  prepare?(wanted: readonly { readonly series: SeriesLabel; readonly range: TimeRange }[]): Promise<void>
  open(series: SeriesLabel, range: TimeRange): SideCandles
  /** How many windows a service was asked for. Throws `incomplete` for those that could not be had. */
  readonly finish?: () => number | undefined
  close?(): Promise<void>
}

/** A mirror as it is, or what a service says now: its mirror only tells which windows have changed since, and stays as it is. */
export async function openTreeSide(
  name: string,
  options: SourceOptions & { readonly offline?: boolean },
  requested: RequestedRange,
): Promise<DiffSide> {
  const run = await openRun(options, { readOnly: true })
  const { mirror, source } = run
  const toSeries = ({ symbol, interval }: SeriesLabel): Series => {
    if (isInterval(interval)) return { symbol, interval }
    const message = `${symbol} ${interval} is resampled, and ${name} has only candles as they are.`
    const advice = `Export it with --resample ${interval} to a file, and compare the files.`
    throw new KlinesError('bad_option', message, { suggestions: [advice] })
  }
  /** Of all series of a service. */
  let asked: Tally | undefined
  return {
    name,
    kind: source ? 'service' : 'mirror',
    baseUrl: source?.name ?? mirror.source,
    series: source ? [] : mirror.series(),
    span(label) {
      const [first, last] = [firstCandle(mirror, toSeries(label)), newestCandle(mirror, toSeries(label))]
      return first === undefined || last === undefined ? undefined : { fromTime: first, toTime: last + 1 }
    },
    async prepare(wanted) {
      if (!source) return
      const named = wanted.map(({ series, range }) => ({ series: toSeries(series), label: series, range }))
      // Every window is asked for, so the lists say which ones there are.
      const series = await findOfSource(named, requested, { ...run, source, refresh: true })
      asked = new Tally({ range: requested, series, gone: [] }, run)
    },
    open(label, range) {
      const planned = asked?.plan.series.find(one => seriesName(one.label) === seriesName(label))
      if (asked && planned) return openSeries(run, planned, asked)
      const series = toSeries(label)
      const plan = { series, label, range, windows: planWindows(series, mirror.dates(series), range, Infinity) }
      return openSeries(run, plan, new Tally({ range: requested, series: [plan], gone: [] }, quiet(run)))
    },
    finish() {
      asked?.checkWindows()
      return asked && sumOf(asked.counts.map(({ report: { windows } }) => windows.total - windows.cached))
    },
    close: () => run.close(),
  }
}

function openSeries(run: Run, plan: SeriesPlan, tally: Tally): SideCandles {
  const { series } = plan
  const there = new Set(plan.windows.map(({ startDate }) => startDate))
  const ofSeries = () => tally.failures.filter(({ window }) => seriesName(window) === seriesName(series))
  const lacked = new Map<string, WindowFailure>()
  return {
    failures: () => [...ofSeries(), ...lacked.values()],
    async *batches() {
      for await (const [, batches] of readPlan(run, tally, { afterFailure: true, series: [plan] })) yield* batches
    },
    lacks(openTime) {
      const startDate = startDateAt(series.interval, openTime)
      if (there.has(startDate)) return ofSeries().some(({ window }) => window.startDate === startDate)
      if (run.source) return false
      lacked.set(startDate, { window: windowOf(series, startDate), status: 'failed', reason: NOT_CACHED })
      return true
    },
    coverage(range) {
      const { report } = tally.counts[tally.plan.series.indexOf(plan)]
      return coverRange(plan, range, report, seriesBeginning(run.mirror, series, range.named.from))
    },
  }
}

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
    baseUrl: undefined,
    series: [...listed.values()].map(({ series }) => series),
    span: series => listed.get(seriesName(series)),
    open(series, { fromTime, toTime }) {
      let firstOpenTime: number | undefined
      let lastOpenTime: number | undefined
      return {
        failures: () => [],
        async *batches() {
          for await (const batch of file.batches(series)) {
            signal.throwIfAborted()
            const rows = batch.slice(fromTime, toTime)
            firstOpenTime ??= rows.firstOpenTime
            lastOpenTime = rows.lastOpenTime ?? lastOpenTime
            yield rows
          }
        },
        lacks: () => false,
        // Whether the series has candles before those of the file, nobody knows.
        coverage: range => coverRange({ series }, range, { firstOpenTime, lastOpenTime }, { rules: { kind: 'fixed' } }),
      }
    },
  }
}
