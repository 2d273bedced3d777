import type { ChartCandle, FittedCandles } from '../../chart/chart-candle.js'
import { candlesOf, summarize } from '../../chart/summary.js'
import { SAMPLE } from '../../http/base-url.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { ChartObject } from './schema.js'

/** Where the candles of charts come from. */
interface ChartSource {
  readonly baseUrl: string | undefined
  readonly mirrorRoot: string
}

/** `chart --json`: what would be drawn. */
export function chartObject(
  charts: readonly FittedCandles[],
  { baseUrl, mirrorRoot: mirror }: ChartSource,
  { fromTime, toTime }: TimeRange,
): Omit<ChartObject, 'warnings'> {
  const [from, to] = [fromTime, toTime].map(time => (Number.isFinite(time) ? time : null))
  const series = charts.flatMap(chart => toSeriesObject(chart) ?? [])
  return { baseUrl: baseUrl ?? null, sample: baseUrl === SAMPLE, mirror, range: { from, to }, series }
}

function toSeriesObject(fitted: FittedCandles): ChartObject['series'][number] | undefined {
  const summary = summarize(fitted)
  if (summary === undefined) return undefined
  const { series, interval, resampledFrom = null, candles, missing } = fitted
  const { first, last, high, low, change = null } = summary
  const toRow = ({ openTime, open, high, low, close, volume }: ChartCandle) => {
    return [openTime, open, high, low, close, volume] as ChartObject['series'][number]['rows'][number]
  }
  return {
    symbol: series.symbol,
    interval,
    resampledFrom,
    firstOpenTime: first.openTime,
    lastOpenTime: last.openTime,
    candles,
    missing,
    high: { price: high.high, openTime: high.openTime },
    low: { price: low.low, openTime: low.openTime },
    last: last.close,
    change,
    rows: candlesOf(fitted).map(toRow),
  }
}
