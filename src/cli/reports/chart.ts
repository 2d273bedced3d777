import type { ChartCandle, FittedCandles } from '../../chart/chart-candle.js'
import { candlesOf, summarize } from '../../chart/summary.js'
import type { CoveredSeries } from '../../download/coverage.js'
import { seriesName } from '../../klines/series.js'
import type { TimeRange } from '../../klines/time-range.js'
import { coverageObject } from './coverage.js'
import { locationObject } from './report.js'
import type { ChartObject } from './schema.js'

/** Where the candles of charts come from, and how much of the range is there. */
interface ChartSource {
  readonly source: { readonly info: { readonly baseUrl: string | undefined; readonly mirrorRoot: string } }
  readonly range: TimeRange
  readonly coverage: readonly CoveredSeries[]
}

/** `chart --json`: what would be drawn. */
export function chartObject(
  charts: readonly FittedCandles[],
  { source, range, coverage }: ChartSource,
): Omit<ChartObject, 'warnings'> {
  const { baseUrl, mirrorRoot: mirror } = source.info
  const series = charts.flatMap(chart => toSeriesObject(chart, coverage) ?? [])
  return { ...locationObject({ baseUrl, mirror, range }), series }
}

function toSeriesObject(
  fitted: FittedCandles,
  all: readonly CoveredSeries[],
): ChartObject['series'][number] | undefined {
  const summary = summarize(fitted)
  if (summary === undefined) return undefined
  const { series, interval, resampledFrom = null, candles, missing } = fitted
  const isThis = (one: CoveredSeries) => seriesName(one) === seriesName(series)
  const { coverage } = all.find(isThis) as CoveredSeries
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
    coverage: coverageObject(coverage),
    rows: candlesOf(fitted).map(toRow),
  }
}
