import { type Plan, planSeries, type SeriesPlan, type SeriesRange, withAnchor } from '../download/plan.js'
import { type RangeRequest, requestRange } from '../download/request-range.js'
import { combine, namesSymbols, type Selection, selectedIntervals, selectSymbols } from '../download/selection.js'
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
  /** Keep incomplete candles at either end of what `resample` or `derive` makes. */
  readonly partial?: boolean | undefined
  /** Make a series that the mirror lacks from the finest one of which it has every window of the range, as far back as any. */
  readonly derive?: boolean | undefined
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

/** The plan of the source series of an export, and the windows of each of its series. */
export interface ExportPlan {
  readonly plan: Plan
  /** In the order of the request. */
  readonly series: readonly PlannedSeries[]
}

/** A source series, and what it is resampled to. */
type SourceChoice = Pick<ExportSeries, 'source' | 'resampleTo'>

/** Throws `bad_option` for `partial` where no candles are built. */
export function checkPartial({ resample, partial, derive }: ResampleRequest): void {
  if (!partial || resample !== undefined || derive) return
  const message = '`partial: true` keeps incomplete candles of another length, and none is requested.'
  throw new KlinesError('bad_option', message, { suggestions: ['Add `resample`, or leave `partial` out.'] })
}

/**
 * The series of a request. Throws `bad_option` when candles do not fit, several series would become the same one, or `partial`
 * has nothing to apply to, and `window_missing` when the mirror has nothing to derive a series from.
 */
export async function selectSeries(
  { resample, partial, derive = false, ranges }: ResampleRequest & RangedRequest,
  source: WindowSource,
  selection: Selection,
  range: TimeRange,
): Promise<ExportSeries[]> {
  if (ranges) return ranges.map(({ series, range }) => ({ ...series, source: series, range }))
  if (resample !== undefined && derive) {
    throw new KlinesError('bad_option', '`resample` and `derive` both say what to make. Expected one of them.')
  }
  checkPartial({ resample, partial, derive })
  // Every series of a symbol is one that another could be made of.
  const isOpen = derive && !namesSymbols(selection)
  const found = await source.contents.series(isOpen ? { ...selection, intervals: 'all' } : selection, range)
  if (!derive && resample === undefined && source.info.offline) await checkDerivable(source, found, range)
  let made: SourceChoice[] = found.map(series => ({ source: series }))
  if (derive) made = await deriveSeries(source, selection, found, range)
  else if (resample !== undefined) made = resampleSeries(found, resample)
  return toExportSeries(source, made, range)
}

async function toExportSeries(
  source: WindowSource,
  made: readonly SourceChoice[],
  range: TimeRange,
): Promise<ExportSeries[]> {
  const exported: ExportSeries[] = []
  for (const { source: series, resampleTo: length } of made) {
    if (length === undefined) exported.push({ ...series, source: series, range })
    else {
      const resampleTo = await withAnchor(source, series, length)
      exported.push({
        symbol: series.symbol,
        interval: resampleTo.name,
        source: series,
        resampleTo,
        range: sourceRange(series, resampleTo, range),
      })
    }
  }
  return exported
}

/** Throws `window_missing` for a series that the mirror lacks, and could make of a finer one. */
async function checkDerivable(source: WindowSource, found: readonly Series[], range: TimeRange): Promise<void> {
  for (const series of found) {
    if (source.contents.hasSeries(series)) continue
    const [finest] = finerSeries(source, series)
    // A complete mirror has it, without a candle.
    if (finest === undefined || (await source.contents.coveredFrom(series, range)) !== undefined) continue
    throw new KlinesError('window_missing', `${seriesName(series)} is not in the mirror.`, {
      suggestions: [`\`derive: true\` makes it of the ${finest.interval} candles that are there.`, source.info.advice],
    })
  }
}

/** The series of the mirror that another one can be made of, the finest first. */
function finerSeries(source: WindowSource, series: Series): Series[] {
  const target = toTarget(series.interval)
  return EXCHANGE_INTERVALS.filter(interval => isMultiple(target, interval))
    .map(interval => ({ ...series, interval }))
    .filter(part => source.contents.hasSeries(part))
}

/** All series as candles of one length. */
function resampleSeries(series: readonly Series[], resample: string): SourceChoice[] {
  const target = parseTargetInterval(resample)
  for (const { interval } of series) checkMultiple(target, interval)
  if (new Set(series.map(({ symbol }) => symbol)).size < series.length) {
    const names = [...new Set(series.map(({ interval }) => interval))].join(', ')
    const message = `${names} would all become the same ${target.name} candles. Expected one interval.`
    throw new KlinesError('bad_option', message)
  }
  return series.map(series => ({ source: series, resampleTo: target }))
}

/** The selected series, and what those are made of that the mirror lacks. */
async function deriveSeries(
  source: WindowSource,
  selection: Selection,
  cached: readonly Series[],
  range: TimeRange,
): Promise<SourceChoice[]> {
  const symbols = selectSymbols(selection, [...new Set(cached.map(({ symbol }) => symbol))])
  const made: SourceChoice[] = []
  for (const series of combine(symbols, selectedIntervals(selection))) {
    made.push(source.contents.hasSeries(series) ? { source: series } : await findFinest(source, series, range))
  }
  return made
}

/**
 * The series of the mirror that another one is best made of: one with every window of the range; of these those that reach back the
 * furthest, because the lists of intervals begin at different dates; of these the finest. Without such a one, the finest of all.
 */
async function findFinest(source: WindowSource, series: Series, range: TimeRange): Promise<SourceChoice> {
  const target = toTarget(series.interval)
  const finer = finerSeries(source, series)
  if (finer.length === 0) {
    throw new KlinesError(
      'window_missing',
      `${seriesName(series)} is not in the mirror, and neither is a finer interval to build it from.`,
      { suggestions: [source.info.advice] },
    )
  }
  const needed = sourceRange(series, await withAnchor(source, series, target), range)
  const starts = await Promise.all(finer.map(part => source.contents.coveredFrom(part, needed)))
  const earliest = Math.min(...starts.map(start => start ?? Infinity))
  return { source: finer[Math.max(0, starts.indexOf(earliest))], resampleTo: target }
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

/** Plans the source series of an export, each once, and returns the windows of every series that is made from them. */
async function planExport(
  source: WindowSource,
  exported: readonly ExportSeries[],
  range: RequestedRange,
): Promise<ExportPlan> {
  const needed = new Map<string, SeriesRange>()
  for (const { source: series, range, resampleTo } of exported) {
    const before = needed.get(seriesName(series))
    const toTime = Math.max(range.toTime, before?.range.toTime ?? -Infinity)
    const lengths = [...(before?.resampleTo ?? []), resampleTo]
    needed.set(seriesName(series), { series, range: { ...range, toTime }, resampleTo: lengths })
  }
  const plan = { range, series: await planSeries(source, [...needed.values()]) }
  const plans = new Map(plan.series.map(plan => [seriesName(plan.series), plan]))
  const series = exported.map(series => {
    const plan = plans.get(seriesName(series.source)) as SeriesPlan
    return { ...series, plan, windows: plan.windows }
  })
  return { plan, series }
}
