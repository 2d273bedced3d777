import { formatTime } from '../../klines/text.js'
import type { SeriesStats, StatsReport } from '../../verify/stats.js'
import { csvTable, fittingText, type Table } from '../terminal/table.js'
import { coverageObject, coverageText } from './coverage.js'
import type { Report } from './report.js'
import type { StatsObject } from './schema.js'

const PRICES = ['first price', 'last price', 'lowest', 'highest']
const TOTALS = ['volume', 'quote volume', 'trades']
const GAPS = ['missing', 'largest gap']
const COUNTS = [...TOTALS, ...GAPS]
const TIMES = ['first (UTC)', 'last (UTC)']
/** Tables below each other, where one does not fit. */
const GROUPS = [['candles', ...TIMES, ...GAPS], PRICES, TOTALS]

/** `stats`: statistics of series, exact. */
export function statsReport(
  { mirror, baseUrl, range, series }: StatsReport,
  { format }: { format?: string | undefined },
): Report<StatsObject> {
  const table: Table = {
    head: ['symbol', 'interval', 'candles', ...TIMES, ...PRICES, ...COUNTS],
    rows: series.map(toRow),
    right: ['candles', ...PRICES, ...COUNTS],
  }
  return {
    json: { mirror, series: series.map(toObject) },
    text: () => {
      if (format === 'csv') return csvTable(table)
      const short = coverageText(series, { range, baseUrl, verbose: true })
      const text = fittingText({ ...table, rows: table.rows.map(toShort) }, 2, GROUPS)
      return short === undefined ? text : `${text}\n\n${short}`
    },
  }
}

function toRow(stats: SeriesStats): (string | number)[] {
  const { symbol, interval, candles, firstOpenTime, lastOpenTime, trades, missing, largestGap } = stats
  const { firstPrice, lastPrice, lowest, highest, volume, quoteVolume } = stats
  const decimals = [firstPrice, lastPrice, lowest, highest, volume, quoteVolume].map(text => text ?? '-')
  const times = [formatTime(firstOpenTime), formatTime(lastOpenTime)]
  return [symbol, interval, candles, ...times, ...decimals, trades, missing, largestGap]
}

/** Decimals without the zeros at their end, which people do not read, and the day of the first candle. */
function toShort(row: Table['rows'][number]): Table['rows'][number] {
  const cells = row.map(cell => (/^\d+\.\d+$/.test(String(cell)) ? String(cell).replace(/\.?0+$/, '') : cell))
  return cells.with(3, String(cells[3]).slice(0, 10))
}

function toObject({ coverage, ...stats }: StatsReport['series'][number]) {
  return { ...withNulls(stats), coverage: coverageObject(coverage) }
}

type OrNull<Value> = Value extends undefined ? null : Value

/** JSON has no undefined. */
function withNulls<Values extends object>(values: Values) {
  const entries = Object.entries(values).map(([key, value]) => [key, value ?? null])
  return Object.fromEntries(entries) as { [Key in keyof Values]: OrNull<Values[Key]> }
}
