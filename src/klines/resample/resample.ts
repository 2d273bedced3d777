import type { KlineBatch } from '../batch/kline-batch.js'
import { KlinesError } from '../errors.js'
import { type SeriesLabel, seriesName } from '../series.js'
import { type ResampleOptions, Resampler } from './resampler.js'
import { checkMultiple, hasListingGrid, parseTargetInterval, type TargetInterval } from './target-interval.js'

/**
 * Resamples one series, given as batches in order of time, to longer candles, and leaves out incomplete ones. `source` is the series
 * of the batches, `target` a text such as `3h` (see `parseTargetInterval`).
 *
 * From batches of `klineBatches`, also where other iterators have passed them on, come the candles that `exportKlines` writes with
 * `resample`: those that open in the range of the request, of which the last one may end after it. From any other batches, the first
 * candle is complete when a row opens with it, or by `coveredFrom`.
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
  checkMultiple(length, source.interval)
  let resampler: Resampler | undefined
  let last: KlineBatch | undefined
  for await (const batch of batches) {
    checkSameSeries(batch.series, source)
    if (batch.length === 0 && !batch.origin) continue
    resampler ??= await openResampler(batch, source, length, options)
    last = batch
    const completed = resampler.add(batch)
    if (completed) yield completed
  }
  if (resampler && last) yield* end(resampler, last)
}

/** A resampler that knows what the origin of the first batch knows. */
async function openResampler(
  first: KlineBatch,
  source: SeriesLabel,
  target: TargetInterval,
  options: ResampleOptions,
): Promise<Resampler> {
  const { origin } = first
  if (!origin) return new Resampler(source, target, options)
  const anchor = target.anchor ?? (hasListingGrid(target) ? await origin.threeDayAnchor() : undefined)
  // Batches before this one may have been left out.
  const isFirst = first.firstOpenTime === origin.firstOpenTime
  const coveredFrom = options.coveredFrom ?? (isFirst ? origin.coveredFrom : undefined)
  // Batches of a later request may follow.
  const range = options.range ?? { fromTime: origin.range.fromTime, toTime: Infinity }
  return new Resampler(source, { ...target, anchor }, { ...options, range, coveredFrom })
}

/** The last candle, with what the origin of the last batch has after its range. */
async function* end(resampler: Resampler, { origin, lastOpenTime }: KlineBatch): AsyncGenerator<KlineBatch> {
  let completeUntil: number | undefined
  // Batches after this one may have been left out.
  if (origin && lastOpenTime === origin.lastOpenTime) {
    const rest = origin.readOn(resampler.neededUntil(origin.range))
    try {
      for (;;) {
        const { done, value } = await rest.next()
        if (done) {
          completeUntil = value
          break
        }
        const completed = resampler.add(value)
        if (completed) yield completed
      }
    } finally {
      await rest.return(Number.NEGATIVE_INFINITY)
    }
  }
  const candle = resampler.end(completeUntil)
  if (candle) yield candle
}

/** Throws `bad_option` when candles to resample are not of the series that was named. */
function checkSameSeries(found: SeriesLabel, expected: SeriesLabel): void {
  if (found.symbol === expected.symbol && found.interval === expected.interval) return
  const message = `The batches have ${seriesName(found)} candles. Expected those of one series, ${seriesName(expected)}.`
  const suggestions = ['Resample each series by itself, and name the symbol and interval of its batches.']
  throw new KlinesError('bad_option', message, { suggestions, data: { found, expected } })
}
