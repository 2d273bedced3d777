import Type from 'typebox'
import {
  baseUrl,
  Count,
  changedCell,
  count,
  coverage,
  flag,
  Integer,
  integer,
  list,
  location,
  mirror,
  nullable,
  object,
  oneOf,
  report,
  sample,
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

/** `sql -o FILE --json`. */
export const SqlSchema = report('klines-sql', {
  path: text('file of the result'),
  format: Text,
  rows: Count,
  bytes: Count,
})

const candle = object({
  open_time: Integer,
  open: Text,
  high: Text,
  low: Text,
  close: Text,
  volume: Text,
  close_time: Integer,
  quote_volume: Text,
  count: Integer,
  taker_buy_volume: Text,
  taker_buy_quote_volume: Text,
  ignore: Text,
})

/** `show --json`. All times are ms since the epoch, UTC. */
export const ShowSchema = report('klines-show', {
  ...seriesName,
  baseUrl,
  sample,
  mirror,
  time: integer('the requested time'),
  state: oneOf(
    ['candle', 'gap', 'before', 'after', 'open', 'unsettled'],
    'whether there is a candle; else a gap between two, nothing before the first or after the last one, a time that is not over, or a window that may have got it since',
  ),
  openTime: integer('when the candle opens, or would open'),
  endTime: integer('when the next one opens'),
  candle: nullable(candle),
  window: nullable(
    object({
      startDate: Text,
      from: Integer,
      to: Integer,
      cached: Type.Boolean(),
      final: flag('whether it is never downloaded again'),
      candles: Count,
      bytes: Count,
      fetchedTime: Time,
      storedTime: Time,
      renderedTime: Time,
    }),
    'when the service last sent it and when it made it, by the record of the mirror, or else by the time of its file; and since when its file is on this disk',
  ),
  before: Time,
  after: Time,
  gaps: list(
    object({
      from: Integer,
      to: Integer,
      missing: Count,
      outage: flag('whether other symbols of the mirror lack candles then, too'),
      lacking: list(Text, 'these symbols, of the first 20'),
    }),
    'that the time lies in, or that are next to the candle',
  ),
  finer: list(
    object({
      interval: Text,
      candles: Count,
      sum: nullable(candle, 'what these candles add up to, exactly'),
      equal: nullable(Type.Boolean(), 'null when they were not compared'),
      differences: list(
        object({
          column: nullable(Text, 'null when one of the candles is missing'),
          value: Text,
          expected: Text,
          note: nullable(Text, 'why it is no fault'),
        }),
      ),
      reason: nullable(Text, 'why they were not compared'),
    }),
    'each finer interval of the mirror, the finest first',
  ),
  check: nullable(
    object({
      baseUrl: Text,
      equal: flag('new candles at the end of the window do not count'),
      changed: list(changedCell),
      added: list(Integer, 'open times of candles that are not cached'),
      lost: list(Integer, 'open times of cached candles that are not there any more'),
    }),
    'what the service has by now of the window; null without --check',
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
export type SqlObject = Type.Static<typeof SqlSchema>
export type ShowObject = Type.Static<typeof ShowSchema>
export type StatsObject = Type.Static<typeof StatsSchema>
