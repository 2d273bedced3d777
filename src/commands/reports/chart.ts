import { seriesName } from '../../candles/series.js'
import { formatBytes, plural } from '../../candles/text.js'
import type { ChartCandle } from '../../chart/candle-fitter.js'
import { candlesOf, summarize } from '../../chart/summary.js'
import type { LoadedCharts } from '../../cli/chart/load-charts.js'
import { coverage, coverageText, location } from '../../cli/fields.js'
import { count, derived, type Field, integer, list, maybe, object, optional, report, text } from '../../cli/report.js'
import { shortSentences } from '../../rows/coverage.js'

interface DrawnCharts extends LoadedCharts {
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly candles: number }[]
}

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

const extreme = object({ price: text(), openTime: integer() })

const series = {
  symbol: text(),
  interval: text('length of the candles as drawn'),
  resampledFrom: maybe(text(), 'interval of the source; null for its own candles'),
  firstOpenTime: integer(),
  lastOpenTime: integer(),
  candles: count(),
  missing: count('candles missing between the first and the last one'),
  high: extreme,
  low: extreme,
  last: text('close of the last candle'),
  change: maybe(text(), 'from the first open to the last close, such as +13.15%; null when the first open is 0'),
  coverage,
  rows: optional(list(row, 'open time, open, high, low, close, volume; not beside a picture')),
}

/** `chart`: what would be drawn. Prices are the exact decimals of the source. */
export const Chart = report(
  'klines-chart',
  {
    ...location,
    files: list(object({ path: text(), bytes: count(), candles: count('candles as drawn') }), 'the pictures'),
    series: derived(list(object(series)), drawnSeries),
  },
  ({ files, coverage, range, baseUrl }: DrawnCharts) => {
    const lines = files.map(one => `${one.path}: ${plural(one.candles, 'candle')}, ${formatBytes(one.bytes)}`)
    return [...lines, coverageText(coverage, { range, baseUrl, verbose: false }) ?? []].flat().join('\n')
  },
  { lacks: ({ coverage, range }) => shortSentences(coverage, range) },
)

function drawnSeries({ charts, coverage, files }: DrawnCharts) {
  return charts.flatMap(chart => {
    const summary = summarize(chart)
    const covered = coverage.find(one => seriesName(one) === seriesName(chart.series))
    if (!summary || !covered) return []
    const { first, last, high, low, change } = summary
    return {
      ...{ ...covered, ...chart, change, last: last.close, rows: files.length > 0 ? undefined : candlesOf(chart) },
      ...{ firstOpenTime: first.openTime, lastOpenTime: last.openTime },
      high: { price: high.high, openTime: high.openTime },
      low: { price: low.low, openTime: low.openTime },
    }
  })
}
