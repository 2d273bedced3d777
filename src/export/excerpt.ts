import { completeUntil } from '../download/coverage.js'
import type { WindowSource } from '../download/sources/window-source.js'
import { readWindows } from '../download/window-stream.js'
import { KlinesError } from '../klines/errors.js'
import { CandleGrid } from '../klines/resample/candle-grid.js'
import { nextStart, parseTargetInterval } from '../klines/resample/target-interval.js'
import { CANDLE_OPTIONS } from '../options/candle-options.js'
import { checkValue } from '../options/option.js'
import type { PlannedSeries } from './export-series.js'

/**
 * The first or the last candles of each series, after `resample`. Every window of the range is needed all the same, and what a report
 * says about coverage and gaps is about all of it.
 */
export interface ExcerptRequest {
  /** Write only so many candles of each series, the first ones. */
  readonly limit?: number | undefined
  /** The same for the last ones. */
  readonly tail?: number | undefined
}

/** Throws `bad_option` for a number of candles that is none, and for both. */
export function checkExcerpt({ limit, tail }: ExcerptRequest): void {
  checkValue('limit', CANDLE_OPTIONS.limit, limit)
  checkValue('tail', CANDLE_OPTIONS.tail, tail)
  if (limit === undefined || tail === undefined) return
  throw new KlinesError('bad_option', '`limit` and `tail` both say which candles to write. Expected one of them.')
}

/** How the last candles of series are found. */
interface TailOptions {
  /** How many candles of each series; undefined for all. */
  readonly tail: number | undefined
  readonly partial: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Series of an export with the windows and the range of their last candles. Reads the windows of each, from the last one back, until
 * these are found; all must be cached. A window that cannot be read leaves its series as it is: whoever writes it says so.
 */
export async function cutToTail(
  source: WindowSource,
  all: readonly PlannedSeries[],
  options: TailOptions,
): Promise<readonly PlannedSeries[]> {
  if (options.tail === undefined) return all
  const cut: PlannedSeries[] = []
  for (const series of all) {
    const found = await findTail(source, series, options)
    cut.push({ ...series, ...found })
  }
  return cut
}

/** The windows and the range of the last candles of a series; undefined when it has no more than that. */
async function findTail(
  source: WindowSource,
  series: PlannedSeries,
  { tail = Number.POSITIVE_INFINITY, partial, signal }: TailOptions,
): Promise<Pick<PlannedSeries, 'range' | 'windows'> | undefined> {
  const { range, windows, resampleTo } = series
  const grid = resampleTo && new CandleGrid(resampleTo, series.source.symbol)
  let [left, first, fromTime] = [tail, windows.length, Number.POSITIVE_INFINITY]
  for await (const { result } of readWindows(source, [{ range, windows: windows.toReversed() }], signal)) {
    if (result.status === 'failed') return undefined
    first--
    const { batch } = result
    for (let row = batch.length - 1; row >= 0; row--) {
      const time = batch.openTime(row)
      // An earlier part of the same longer candle.
      if (time >= fromTime) continue
      if (left === 0) return { range: { ...range, fromTime }, windows: windows.slice(first) }
      const isLast = fromTime === Number.POSITIVE_INFINITY
      fromTime = grid?.start(time) ?? time
      if (!isLast || partial || grid === undefined || hasAllCandles(source, series, time, grid.end(fromTime))) left--
    }
  }
  return undefined
}

/** Whether a longer candle is written that ends at `endTime`, whose last part opens at `time` (ms UTC), as the resampler decides it. */
function hasAllCandles(
  source: WindowSource,
  { source: { interval }, plan }: PlannedSeries,
  time: number,
  endTime: number,
) {
  return Math.max(nextStart(parseTargetInterval(interval), time), completeUntil(source, plan.windows)) >= endTime
}
