import type { KlineBatch } from '../batch/kline-batch.js'
import type { SeriesLabel } from '../series.js'
import type { ResampleOptions } from './resampler.js'
import type { TargetInterval } from './target-interval.js'

/** What to resample, to what, and how. */
export interface Resampling {
  readonly source: SeriesLabel
  readonly target: TargetInterval
  readonly options: ResampleOptions
}

/** The name of the method of `ResampledReader`. */
export const READ_RESAMPLED = Symbol('klines.readResampled')

/**
 * Batches that are not read yet, from a source that knows more than its rows tell: where its candles begin, and those after the end
 * of the range that the last longer candle needs.
 */
export interface ResampledReader {
  /** Reads them as longer candles; undefined when reading them has begun. */
  [READ_RESAMPLED](resampling: Resampling): AsyncIterable<KlineBatch> | undefined
}
