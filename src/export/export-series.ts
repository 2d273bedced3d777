import { type Plan, planSeries, type SeriesPlan, type SeriesRange, withAnchor } from '../download/plan.js'
import { type RangeRequest, requestRange } from '../download/request-range.js'
import type { Selection } from '../download/selection.js'
import type { WindowSource } from '../download/sources/window-source.js'
import type { WindowRun } from '../download/window-stream.js'
import { KlinesError } from '../klines/errors.js'
import { EXCHANGE_INTERVALS } from '../klines/intervals.js'
import { sourceRange } from '../klines/resample/resampler.js'
import {
  checkMultiple,
  isMultiple,
  parseTargetInterval,
  type TargetInterval,
  toTarget,
} from '../klines/resample/target-interval.js'
import { type Series, type SeriesLabel, seriesName } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'

/** How longer candles are made on the way into an output. */
export interface ResampleRequest {
  /** Length of the candles to make, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep incomplete candles at either end of what `resample` makes. */
  readonly partial?: boolean | undefined
}

/** Series with a range each, in place of those that names and a range stand for. */
export interface RangedRequest {
  readonly ranges?: readonly SeriesRange[] | undefined
}

/** A series of an export. `symbol` and `interval` are those of the output. */
export interface ExportSeries extends SeriesLabel {
  /** The series that it is made of: the same one, or one of a finer interval. */
  readonly source: Series
  /** Set when it is resampled. */
  readonly resampleTo?: TargetInterval | undefined
  /** Open times of the candles of `source` that are needed, ms UTC. */
  readonly range: TimeRange
}

/** A series of an export with the windows that it is read from. */
export interface PlannedSeries extends ExportSeries, WindowRun {
  readonly plan: SeriesPlan
}

/** The plan of the source series of an export, and its series in the same order. */
export interface ExportPlan {
  readonly plan: Plan
  readonly series: readonly PlannedSeries[]
}

/** Throws `bad_option` for `partial` where no candles are built. */
export function checkPartial({ resample, partial }: ResampleRequest): void {
  if (!partial || resample !== undefined) return
  const message = '`partial: true` keeps incomplete candles of another length, and none is requested.'
  throw new KlinesError('bad_option', message, { suggestions: ['Add `resample`, or leave `partial` out.'] })
}

/**
 * The series of a request. Throws `bad_option` when candles do not fit, several series would become the same one, or `partial`
 * has nothing to apply to, and `window_missing` for a series that the mirror lacks and could make of a finer one.
 */
export async function selectSeries(
  { resample, partial, ranges }: ResampleRequest & RangedRequest,
  source: WindowSource,
  selection: Selection,
  range: TimeRange,
): Promise<ExportSeries[]> {
  if (ranges) return ranges.map(({ series, range }) => ({ ...series, source: series, range }))
  checkPartial({ resample, partial })
  const found = await source.contents.series(selection, range)
  if (resample !== undefined) return resampleSeries(found, resample, source, range)
  if (source.info.offline) for (const series of found) checkPresent(source, series)
  return found.map(series => ({ ...series, source: series, range }))
}

/** Throws `window_missing` for a series that the mirror lacks, and could make of a finer one. */
function checkPresent({ contents, info }: WindowSource, series: Series): void {
  if (contents.hasSeries(series)) return
  const target = toTarget(series.interval)
  const finer = EXCHANGE_INTERVALS.filter(interval => isMultiple(target, interval))
  const finest = finer.find(interval => contents.hasSeries({ ...series, interval }))
  if (finest === undefined) return
  const made = `\`resample: '${series.interval}'\` makes such candles of those that are there: \`intervals: '${finest}'\``
  throw new KlinesError('window_missing', `${seriesName(series)} is not in the mirror.`, {
    suggestions: [made, info.advice],
  })
}

/** All series as candles of one length. */
async function resampleSeries(
  series: readonly Series[],
  resample: string,
  source: WindowSource,
  range: TimeRange,
): Promise<ExportSeries[]> {
  const target = parseTargetInterval(resample)
  for (const { interval } of series) checkMultiple(target, interval)
  if (new Set(series.map(({ symbol }) => symbol)).size < series.length) {
    const names = [...new Set(series.map(({ interval }) => interval))].join(', ')
    const message = `${names} would all become the same ${target.name} candles. Expected one interval.`
    throw new KlinesError('bad_option', message)
  }
  const made: ExportSeries[] = []
  for (const one of series) {
    const resampleTo = await withAnchor(source, one, target)
    const needed = sourceRange(one, resampleTo, range)
    made.push({ symbol: one.symbol, interval: target.name, source: one, resampleTo, range: needed })
  }
  return made
}

/**
 * The windows of a request: finds its range and its series, calls `check` with these, and plans them. Throws what `requestRange`,
 * `selectSeries` and `check` throw.
 */
export async function planRequest(
  request: RangeRequest & ResampleRequest & RangedRequest,
  source: WindowSource,
  selection: Selection,
  check?: (series: readonly ExportSeries[]) => Promise<void>,
): Promise<ExportPlan> {
  const range = await requestRange(request, source)
  const series = await selectSeries(request, source, selection, range)
  await check?.(series)
  return planExport(source, series, range)
}

/** Plans the source series of an export. */
async function planExport(
  source: WindowSource,
  exported: readonly ExportSeries[],
  range: RequestedRange,
): Promise<ExportPlan> {
  const needed = exported.map(({ source: series, range, resampleTo }) => ({ series, range, resampleTo }))
  const plan = { range, series: await planSeries(source, needed) }
  const series = exported.map((series, index) => {
    return { ...series, plan: plan.series[index], windows: plan.series[index].windows }
  })
  return { plan, series }
}
