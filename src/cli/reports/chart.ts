import type { ChartCandle, FittedCandles } from '../../chart/chart-candle.js'
import { candlesOf, summarize } from '../../chart/summary.js'
import type { CoveredSeries } from '../../engine/coverage.js'
import { seriesName } from '../../klines/series.js'
import type { LoadedCharts } from '../chart/load-charts.js'
import { coverageObject } from './coverage.js'
import { locationObject } from './report.js'
import type { ChartObject } from './schema.js'

/** `chart --json`: what would be drawn. */
export function chartObject({ charts, coverage, ...location }: LoadedCharts): Omit<ChartObject, 'warnings'> {
  return { ...locationObject(location), series: charts.flatMap(chart => toSeriesObject(chart, coverage) ?? []) }
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
