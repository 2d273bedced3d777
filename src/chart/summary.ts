import { compareDecimals, formatChange } from '../rows/decimals.js'
import type { ChartCandle, FittedCandles, Slot } from './chart-candle.js'
import { PriceScale } from './price-scale.js'

/** What the candles of a picture say in words. Prices are the exact text of the source. */
export interface ChartSummary {
  readonly first: ChartCandle
  readonly last: ChartCandle
  /** The first candle that reaches the highest price, and the first one that reaches the lowest. */
  readonly high: ChartCandle
  readonly low: ChartCandle
  /** From the first open to the last close: `+13.15%`; undefined when the first open is 0. */
  readonly change: string | undefined
}

/** The candles that are there, in order of time. */
export function candlesOf({ slots }: FittedCandles): ChartCandle[] {
  return slots.flatMap(({ candle }) => (candle ? [candle] : []))
}

/** Undefined when there is no candle: there is nothing to draw. */
export function summarize(fitted: FittedCandles): ChartSummary | undefined {
  const candles = candlesOf(fitted)
  if (candles.length === 0) return undefined
  const [first, last] = [candles[0], candles[candles.length - 1]]
  const high = candles.reduce((best, candle) => (compareDecimals(candle.high, best.high) > 0 ? candle : best))
  const low = candles.reduce((best, candle) => (compareDecimals(candle.low, best.low) < 0 ? candle : best))
  return { first, last, high, low, change: formatChange(first.open, last.close) }
}

/** The price axis from the lowest to the highest price. */
export function buildPriceScale({ low: { low }, high: { high } }: ChartSummary, log: boolean): PriceScale {
  const digits = Math.max(...[low, high].map(price => price.split('.')[1]?.length ?? 0))
  return new PriceScale({ low: Number(low), high: Number(high), log, digits })
}

/** Whether a candle closes at or above its open. */
export function isRising({ open, close }: ChartCandle): boolean {
  return compareDecimals(close, open) >= 0
}

const UNITS = ['', 'K', 'M', 'B', 'T']

/** The highest volume, which fills all rows; 0 when nothing was traded. */
export function maxVolume(slots: readonly Slot[]): number {
  return slots.reduce((max, { candle }) => Math.max(max, candle ? Number(candle.volume) : 0), 0)
}

/** `44.9K`: three digits and a unit, without zeros at the end. */
export function formatVolume(volume: number): string {
  if (volume === 0) return '0'
  let [value, unit] = [volume, 0]
  // A value that would be rounded to 1000 belongs to the next unit.
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000
  return `${Number(value.toPrecision(3))}${UNITS[unit]}`
}
