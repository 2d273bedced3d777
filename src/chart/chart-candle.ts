import type { SeriesLabel } from '../candles/series.js'
import type { KlineBatch } from '../rows/kline-batch.js'

/** A candle to draw. Decimals are the exact text of the source: drawing turns them into numbers. All times are ms UTC. */
export type ChartCandle = { readonly openTime: number } & Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume', string>
>

/** The place of one candle on the time axis. A candle that is missing keeps its place. */
export interface Slot {
  /** When the candle opens, or would open. */
  readonly openTime: number
  readonly candle: ChartCandle | undefined
}

/** The candles of one picture. */
export interface FittedCandles<S extends SeriesLabel = SeriesLabel> {
  readonly series: S
  /** The length of the candles as drawn, such as `1d` or `1q`. */
  readonly interval: string
  /** The interval of the source when the candles are resampled. */
  readonly resampledFrom: string | undefined
  /** In order of time, one step after the other. The first and the last one have a candle; empty without candles. */
  readonly slots: readonly Slot[]
  /** Numbers of slots with a candle, and without one. */
  readonly candles: number
  readonly missing: number
  /** Open times of the first and the last candle of the source that was drawn; undefined without candles. */
  readonly firstTime: number | undefined
  readonly lastTime: number | undefined
}

export function readCandle(batch: KlineBatch, row: number): ChartCandle {
  const [open, high, low, close, volume] = [1, 2, 3, 4, 5].map(column => batch.text(row, column))
  return { openTime: batch.openTime(row), open, high, low, close, volume }
}
