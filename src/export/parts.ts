import type { Plan, SeriesPlan } from '../download/plan.js'
import { combine, type Selection, selectedIntervals } from '../download/selection.js'
import type { WindowSource } from '../download/window-source.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { KlinesError } from '../klines/errors.js'
import { INTERVALS } from '../klines/intervals.js'
import { resample, sourceRange } from '../klines/resample/resampler.js'
import {
  checkMultiple,
  isMultiple,
  parseTargetInterval,
  type TargetInterval,
  toTarget,
} from '../klines/resample/target-interval.js'
import { type Series, type SeriesLabel, seriesName } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { TimeRange } from '../klines/time-range.js'

/** How candles are made of finer ones on the way into an output. */
export interface ResampleRequest {
  /** Length of the candles to make of those asked for, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep the candles at either end that are covered in part only. */
  readonly partial?: boolean | undefined
  /** Make a series that is not held of the finest one that is. */
  readonly derive?: boolean | undefined
}

/** A series of an output, and the series it is read or made of. */
export interface ExportSeries {
  readonly output: SeriesLabel
  readonly source: Series
  /** Set when the output is made of the source. */
  readonly target?: TargetInterval | undefined
}

/**
 * The parts that a request means. Throws `bad_option` when candles do not fit, or several series would become the same one,
 * and `window_missing` when there is nothing to derive a series from.
 */
export async function partsOf(
  { resample: length, derive = false }: ResampleRequest,
  source: WindowSource,
  selection: Selection,
): Promise<ExportSeries[]> {
  if (length !== undefined && derive) {
    throw new KlinesError('bad_option', '`resample` and `derive` both say what to make. Expected one of them.')
  }
  const series = await source.series(selection)
  if (derive) return derivedParts(source, selection, series)
  if (length === undefined) return series.map(one => ({ output: one, source: one }))
  const target = parseTargetInterval(length)
  for (const { interval } of series) checkMultiple(target, interval)
  const parts = series.map(one => {
    const { symbol } = one
    return { output: { symbol, interval: target.name }, source: one, target: anchored(target, source, symbol) }
  })
  if (new Set(parts.map(({ output }) => output.symbol)).size < parts.length) {
    const names = [...new Set(series.map(({ interval }) => interval))].join(', ')
    throw new KlinesError(
      'bad_option',
      `${names} would all become the same ${target.name} candles. Expected one interval.`,
    )
  }
  return parts
}

function derivedParts(source: WindowSource, selection: Selection, held: readonly Series[]): ExportSeries[] {
  const symbols = selection.symbols === 'all' ? [...new Set(held.map(({ symbol }) => symbol))] : selection.symbols
  return combine(symbols, selectedIntervals(selection)).map(one => {
    if (source.hasSeries(one)) return { output: one, source: one }
    const target = toTarget(one.interval)
    const finest = INTERVALS.find(interval => isMultiple(target, interval) && source.hasSeries({ ...one, interval }))
    if (finest !== undefined) {
      return { output: one, source: { ...one, interval: finest }, target: anchored(target, source, one.symbol) }
    }
    throw new KlinesError(
      'window_missing',
      `${seriesName(one)} is not in the mirror, and nothing it could be made of.`,
      {
        suggestions: [source.advice],
      },
    )
  })
}

/** A target on the symbol's own 3d grid, where that is known. */
function anchored(target: TargetInterval, source: WindowSource, symbol: SymbolName): TargetInterval {
  return { ...target, anchor: source.threeDayAnchor(symbol) }
}

/** The series of the outputs. */
export function outputsOf(parts: readonly ExportSeries[]): SeriesLabel[] {
  return parts.map(({ output }) => output)
}

/** The same as far as the request itself says it; undefined where somebody has to say what `all` is. */
export function namedOutputs({ resample: length }: ResampleRequest, selection: Selection): SeriesLabel[] | undefined {
  const { symbols, intervals } = selection
  if (symbols === 'all' || intervals === 'all') return undefined
  if (length === undefined) return combine(symbols, intervals)
  const { name } = parseTargetInterval(length)
  return symbols.map(symbol => ({ symbol, interval: name }))
}

/** The open times of source candles that outputs in `range` are made of. */
export function rangeOfSources(parts: readonly ExportSeries[], range: TimeRange): TimeRange {
  if (range.toTime === undefined) return range
  const ends = parts.map(({ source, target }) => (target ? sourceRange(source, target, range).toTime : range.toTime))
  return { ...range, toTime: Math.max(...(ends as number[])) }
}

/** The series that parts are read from, each once. */
export function sourcesOf(parts: readonly ExportSeries[]): Series[] {
  return [...new Map(parts.map(({ source }) => [seriesName(source), source])).values()]
}

/** The series of a plan that a part is read from. */
export function planOf({ source }: ExportSeries, plan: Plan): SeriesPlan {
  return plan.series.find(one => seriesName(one.series) === seriesName(source)) as SeriesPlan
}

/**
 * The candles of a part that open in `range`, made of those of its source, which may reach further: other parts need whole
 * candles at the end. Each batch is good until the next.
 */
export function batchesOfPart(
  batches: AsyncIterable<KlineBatch>,
  part: ExportSeries,
  plan: Plan,
  options: { range: TimeRange; partial?: boolean | undefined },
): AsyncIterable<KlineBatch> {
  const { source, target } = part
  if (!target) return within(batches, options.range)
  return resample(batches, source, target, { ...options, coveredFrom: planOf(part, plan).listedFrom })
}

async function* within(
  batches: AsyncIterable<KlineBatch>,
  { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY }: TimeRange,
): AsyncGenerator<KlineBatch> {
  for await (const batch of batches) {
    const rows = batch.slice(fromTime, toTime)
    if (rows.length > 0) yield rows
  }
}
