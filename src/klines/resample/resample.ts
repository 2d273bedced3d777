import type { KlineBatch } from '../batch/kline-batch.js'
import { KlinesError } from '../errors.js'
import { type SeriesLabel, seriesName } from '../series.js'
import { READ_RESAMPLED, type ResampledReader } from './resampled-reader.js'
import { type ResampleOptions, Resampler } from './resampler.js'
import { parseTargetInterval, type TargetInterval } from './target-interval.js'

/**
 * Resamples one series, given as batches in order of time, to longer candles, and leaves out incomplete ones. `source` is the series
 * of the batches, `target` a text such as `3h` (see `parseTargetInterval`).
 *
 * From `klineBatches` come the candles that `exportKlines` writes with `resample`: those that open in the range of the request. From
 * any other batches, the first candle is complete when a row opens with it, or by `coveredFrom`.
 *
 * Throws `bad_option` when candles of `source` do not fit into the target or the batches are of another series, `unknown_interval`,
 * and what reading the batches throws.
 */
export async function* resample(
  batches: AsyncIterable<KlineBatch> | Iterable<KlineBatch>,
  source: SeriesLabel,
  target: TargetInterval | string,
  options: ResampleOptions = {},
): AsyncGenerator<KlineBatch> {
  const length = typeof target === 'string' ? parseTargetInterval(target) : target
  const read = (batches as Partial<ResampledReader>)[READ_RESAMPLED]?.({ source, target: length, options })
  yield* read ?? resampleBatches(batches, source, length, options)
}

/**
 * Resamples batches by what the rows and the options tell. `completeUntil`, called after the last batch: until when there are surely no
 * other candles, ms UTC.
 */
export async function* resampleBatches(
  batches: AsyncIterable<KlineBatch> | Iterable<KlineBatch>,
  source: SeriesLabel,
  target: TargetInterval,
  options: ResampleOptions,
  completeUntil?: () => number,
): AsyncGenerator<KlineBatch> {
  const resampler = new Resampler(source, target, options)
  for await (const batch of batches) {
    checkSameSeries(batch.series, source)
    const completed = resampler.add(batch)
    if (completed) yield completed
  }
  const last = resampler.end(completeUntil?.())
  if (last) yield last
}

/** Throws `bad_option` when candles to resample are not of the series that was named. */
export function checkSameSeries(found: SeriesLabel, expected: SeriesLabel): void {
  if (found.symbol === expected.symbol && found.interval === expected.interval) return
  const message = `The batches have ${seriesName(found)} candles. Expected those of one series, ${seriesName(expected)}.`
  const suggestions = ['Resample each series by itself, and name the symbol and interval of its batches.']
  throw new KlinesError('bad_option', message, { suggestions, data: { found, expected } })
}
