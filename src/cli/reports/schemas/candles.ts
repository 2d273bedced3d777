import Type from 'typebox'
import {
  Count,
  count,
  coverage,
  Integer,
  list,
  location,
  mirror,
  nullable,
  object,
  report,
  seriesName,
  Text,
  Time,
  text,
} from './words.js'

const extreme = object({ price: Text, openTime: Integer })

/** `chart --json`. Prices are the exact decimals of the source. */
export const ChartSchema = report('klines-chart', {
  ...location,
  series: list(
    object({
      symbol: Text,
      interval: text('length of the candles as drawn'),
      resampledFrom: nullable(Text, 'interval of the source; null for its own candles'),
      firstOpenTime: Integer,
      lastOpenTime: Integer,
      candles: Count,
      missing: count('candles missing between the first and the last one'),
      high: extreme,
      low: extreme,
      last: text('close of the last candle'),
      change: nullable(Text, 'from the first open to the last close, such as +13.15%; null when the first open is 0'),
      coverage,
      rows: list(Type.Tuple([Integer, Text, Text, Text, Text, Text]), 'open time, open, high, low, close, volume'),
    }),
  ),
})

const Decimal = nullable(Text, 'exact; null for a series without candles')

/** `stats --json`. */
export const StatsSchema = report('klines-stats', {
  mirror,
  series: list(
    object({
      ...seriesName,
      candles: Count,
      firstOpenTime: Time,
      lastOpenTime: Time,
      gaps: Count,
      missing: count('candles missing in the gaps'),
      firstPrice: Decimal,
      lastPrice: Decimal,
      lowest: Decimal,
      highest: Decimal,
      volume: Decimal,
      quoteVolume: Decimal,
      takerBuyVolume: Decimal,
      takerBuyQuoteVolume: Decimal,
      trades: Count,
      largestGap: count('candles missing in the largest gap'),
      coverage,
    }),
  ),
})

export type ChartObject = Type.Static<typeof ChartSchema>
export type StatsObject = Type.Static<typeof StatsSchema>
