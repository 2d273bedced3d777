import type { CoveredSeries } from '../../download/coverage.js'
import type { SeriesStats } from '../../klines/audit/stats.js'
import { formatTime } from '../../klines/text.js'
import type { RequestedRange } from '../../klines/time-range.js'
import { csvTable, type Table, textTable } from '../terminal/table.js'
import { coverageObject, coverageText } from './coverage.js'
import type { Report } from './report.js'

const PRICES = ['first price', 'last price', 'lowest', 'highest']
const COUNTS = ['volume', 'quote volume', 'trades', 'missing', 'largest gap']

/** `stats`: statistics of series, exact. */
export function statsReport(
  { root: mirror, baseUrl }: { readonly root: string; readonly baseUrl: string | undefined },
  series: readonly (SeriesStats & CoveredSeries)[],
  range: RequestedRange,
  { format }: { format?: string | undefined },
): Report {
  const table: Table = {
    head: ['symbol', 'interval', 'candles', 'first (UTC)', 'last (UTC)', ...PRICES, ...COUNTS],
    rows: series.map(toRow),
    right: ['candles', ...PRICES, ...COUNTS],
  }
  return {
    json: { mirror, series: series.map(toObject) },
    text: () => {
      if (format === 'csv') return csvTable(table)
      const short = coverageText(series, { range, baseUrl, verbose: true })
      const text = textTable({ ...table, rows: table.rows.map(withoutZeros) })
      return short === undefined ? text : `${text}\n\n${short}`
    },
  }
}

function toRow(stats: SeriesStats): (string | number)[] {
  const { symbol, interval, rows, firstOpenTime, lastOpenTime, trades, missing, largestGap } = stats
  const { firstPrice, lastPrice, lowest, highest, volume, quoteVolume } = stats
  const decimals = [firstPrice, lastPrice, lowest, highest, volume, quoteVolume].map(text => text ?? '-')
  const times = [formatTime(firstOpenTime), formatTime(lastOpenTime)]
  return [symbol, interval, rows, ...times, ...decimals, trades, missing, largestGap]
}

/** Decimals without the zeros at their end, which people do not read. */
function withoutZeros(row: Table['rows'][number]): Table['rows'][number] {
  return row.map(cell => (/^\d+\.\d+$/.test(String(cell)) ? String(cell).replace(/\.?0+$/, '') : cell))
}

function toObject({ rows, coverage, ...stats }: SeriesStats & CoveredSeries): object {
  return { ...withNulls({ candles: rows, ...stats }), coverage: coverageObject(coverage) }
}

/** JSON has no undefined. */
function withNulls(object: object): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, value ?? null]))
}
