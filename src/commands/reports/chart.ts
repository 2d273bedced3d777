import { seriesName } from '../../candles/series.js'
import { formatBytes, plural } from '../../candles/text.js'
import type { ChartCandle, FittedCandles } from '../../chart/chart-candle.js'
import { type ChartSummary, candlesOf, summarize } from '../../chart/summary.js'
import type { LoadedCharts } from '../../cli/chart/load-charts.js'
import { coverage, location } from '../../cli/fields.js'
import { count, derived, type Field, integer, list, maybe, object, report, text } from '../../cli/report.js'
import type { CoveredSeries } from '../../rows/coverage.js'

interface DrawnCharts extends LoadedCharts {
  readonly pictures: readonly { readonly path: string; readonly bytes: number; readonly candles: number }[]
}

type Drawn = FittedCandles & { readonly summary: ChartSummary } & Pick<CoveredSeries, 'coverage'>

const decimal = text().schema
const row: Field<readonly [number, string, string, string, string, string]> = {
  schema: {
    type: 'array',
    items: [integer().schema, decimal, decimal, decimal, decimal, decimal],
    minItems: 6,
    additionalItems: false,
  },
  json: ({ openTime, open, high, low, close, volume }: ChartCandle) => [openTime, open, high, low, close, volume],
}

const extreme = (side: 'high' | 'low') => {
  const fields = { price: derived(text(), (candle: ChartCandle) => candle[side]), openTime: integer() }
  return derived(object(fields), ({ summary }: Drawn) => summary[side])
}

const series = {
  symbol: derived(text(), ({ series }: Drawn) => series.symbol),
  interval: text('length of the candles as drawn'),
  resampledFrom: maybe(text(), 'interval of the source; null for its own candles'),
  firstOpenTime: derived(integer(), ({ summary }: Drawn) => summary.first.openTime),
  lastOpenTime: derived(integer(), ({ summary }: Drawn) => summary.last.openTime),
  candles: count(),
  missing: count('candles missing between the first and the last one'),
  high: extreme('high'),
  low: extreme('low'),
  last: derived(text('close of the last candle'), ({ summary }: Drawn) => summary.last.close),
  change: derived(
    maybe(text(), 'from the first open to the last close, such as +13.15%; null when the first open is 0'),
    ({ summary }: Drawn) => summary.change,
  ),
  coverage,
  rows: derived(list(row, 'open time, open, high, low, close, volume'), candlesOf),
}

/** `chart`: what would be drawn. Prices are the exact decimals of the source. */
export const Chart = report(
  'klines-chart',
  { ...location, series: derived(list(object(series)), drawnSeries) },
  ({ pictures }: DrawnCharts) =>
    pictures.map(one => `${one.path}: ${plural(one.candles, 'candle')}, ${formatBytes(one.bytes)}`).join('\n'),
)

function drawnSeries({ charts, coverage }: LoadedCharts): Drawn[] {
  return charts.flatMap(chart => {
    const summary = summarize(chart)
    const covered = coverage.find(one => seriesName(one) === seriesName(chart.series))
    return summary && covered ? [{ ...chart, summary, coverage: covered.coverage }] : []
  })
}
