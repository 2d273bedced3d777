import { COLUMNS } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import type { SeriesLabel } from '../candles/series.js'
import type { KlineBatch } from '../rows/kline-batch.js'

/** A candle to draw. Decimals are the exact text of the source: drawing turns them into numbers, a title shows them. */
export interface ChartCandle {
  /** ms UTC. */
  readonly openTime: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
}

/** The place of one candle on the time axis. A candle that is missing keeps its place. */
export interface Slot {
  /** When the candle opens, or would open, ms UTC. */
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
  /** Number of slots with a candle. */
  readonly candles: number
  /** Number of slots without one. */
  readonly missing: number
  /** Open time of the first and the last candle of the source that was drawn, ms UTC; undefined without candles. */
  readonly firstTime: number | undefined
  readonly lastTime: number | undefined
}

const [OPEN, HIGH, LOW, CLOSE, VOLUME] = (['open', 'high', 'low', 'close', 'volume'] as const).map(name =>
  COLUMNS.indexOf(name),
)

/** One row of a batch as a candle. Throws `digits_lost` for a decimal beyond all doubles, which has no place in a picture. */
export function readCandle(batch: KlineBatch, row: number): ChartCandle {
  return {
    openTime: batch.openTime(row),
    open: readDecimal(batch, row, OPEN),
    high: readDecimal(batch, row, HIGH),
    low: readDecimal(batch, row, LOW),
    close: readDecimal(batch, row, CLOSE),
    volume: readDecimal(batch, row, VOLUME),
  }
}

function readDecimal(batch: KlineBatch, row: number, column: number): string {
  const text = batch.text(row, column)
  if (Number.isFinite(Number(text))) return text
  const message = `${COLUMNS[column]} is ${text.slice(0, 20)}..., with ${text.length} characters. Expected less than 1e308.`
  throw new KlinesError('digits_lost', message)
}
