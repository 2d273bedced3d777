import type { ChangedCell, WindowChange } from '../klines/compare.js'
import { type Series, seriesName, type WindowRef } from '../klines/series.js'
import { Tally, type TallyTotals } from '../klines/tally.js'
import { parseRange, type RangeText, type TimeRange } from '../klines/time-range.js'
import { systemClock } from '../service/system-clock.js'
import { DEFAULT_CONCURRENCY, openServiceSource, type SourceOptions } from './open-source.js'
import { incomplete, noCandles } from './outcome.js'
import { type Plan, planSeries } from './plan.js'
import { parseSelection } from './selection.js'
import type { How, WindowFailure, WindowSource } from './window-source.js'
import { settledStream, windowStream } from './window-stream.js'

/** Changed values that a report lists of a series; all are counted. */
const MAX_CHANGES = 1_000

/** Which candles. Names as people write them, `all` for all there are; times as `parseInstant` takes them. */
export interface KlinesRequest extends SourceOptions, RangeText {
  readonly symbols: readonly string[]
  readonly intervals: readonly string[]
}

/** How many windows of a series were had in which way. */
export type WindowCounts = Record<How | 'failed', number> & { total: number }

/** What became of one series. */
export interface SeriesReport extends Series, TallyTotals {
  readonly windows: WindowCounts
  /** Candles of windows held before whose values the service has changed since. */
  readonly restated: number
  /** Their values before and after: the first 1,000. */
  readonly changes: readonly ChangedCell[]
}

/** What a run did. */
export interface DownloadReport {
  /** Base address the candles come from; undefined for a bare tree. */
  readonly baseUrl: string | undefined
  readonly mirror: string
  readonly range: TimeRange
  readonly series: SeriesReport[]
  /** Requests made, lists and retries included. */
  readonly requests: number
  /** Bytes of bodies as they came over the wire. */
  readonly bytes: number
}

/** Told as windows come: how many of how many, which and how, and the bytes that came over the wire so far. */
export type Progress = (state: {
  readonly done: number
  readonly total: number
  readonly window: WindowRef
  readonly how: How | 'failed'
  readonly bytes: number
  /** How a fetched window differs from the one held before. */
  readonly change: WindowChange | undefined
}) => void

/**
 * Brings every window of a range into the mirror that is not final there. Throws `incomplete` when one could not be had
 * (the others are in the mirror then), `no_candles` when there is none in the range, `unreachable`, `stay_away`,
 * `mirror_unusable`, or what the request itself has wrong.
 */
export async function downloadKlines(request: KlinesRequest, progress?: Progress): Promise<DownloadReport> {
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openServiceSource(request)
  try {
    const plan = await planSeries(source, await source.series(selection), range)
    return await settlePlan(source, plan, request, progress)
  } finally {
    await source.close()
  }
}

/** Has every window of a plan, sound and in order. Throws `incomplete` or `no_candles` after all were tried. */
export async function settlePlan(
  source: WindowSource,
  plan: Plan,
  { concurrency = DEFAULT_CONCURRENCY, signal }: SourceOptions,
  progress: Progress = () => {},
): Promise<DownloadReport> {
  const { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY } = plan.range
  const slots = plan.series.map(({ series, windows }) => ({
    tally: new Tally(series),
    windows: noWindows(windows.length),
    restated: 0,
    changes: [] as ChangedCell[],
  }))
  const places = new Map(plan.series.map(({ series }, index) => [seriesName(series), slots[index]]))
  const windows = plan.series.flatMap(one => one.windows)
  const failures: WindowFailure[] = []
  let done = 0
  const results = source.offline
    ? settledStream(source, windows, signal)
    : windowStream(source, windows, { concurrency, signal })
  for await (const result of results) {
    const slot = places.get(seriesName(result.window)) as (typeof slots)[number]
    slot.windows[result.how]++
    if (result.how === 'failed') failures.push(result)
    else {
      slot.tally.add(result.batch.slice(fromTime, toTime))
      const { changed = [] } = result.change ?? {}
      slot.restated += new Set(changed.map(({ openTime }) => openTime)).size
      slot.changes.push(...changed.slice(0, MAX_CHANGES - slot.changes.length))
    }
    progress({
      done: ++done,
      total: windows.length,
      window: result.window,
      how: result.how,
      bytes: source.traffic.bytes,
      change: result.how === 'failed' ? undefined : result.change,
    })
  }
  if (failures.length > 0) throw incomplete(failures, windows.length, source.advice)
  const series = slots.map(({ tally, ...rest }) => ({
    ...tally.series,
    ...tally.totals,
    ...rest,
  }))
  if (series.every(({ rows }) => rows === 0)) throw noCandles(plan)
  return {
    baseUrl: source.baseUrl,
    mirror: source.mirrorRoot,
    range: plan.range,
    series,
    ...source.traffic,
  }
}

function noWindows(total: number): WindowCounts {
  return { total, held: 0, fetched: 0, unmodified: 0, kept: 0, failed: 0 }
}
