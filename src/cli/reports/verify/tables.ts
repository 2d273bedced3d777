import { COLUMN_KINDS, COLUMNS } from '../../../klines/columns.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount, formatTime } from '../../../klines/text.js'
import type { CandleSum } from '../../../verify/finer-sum.js'
import type { JudgedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'
import { csvTable, textTable } from '../../terminal/table.js'
import { candleName, exactTime, printable } from '../../terminal/text.js'
import { sum } from '../report.js'

/** The columns of the table of failing series, left out where they are 0 for all. */
const FAILURES = [
  ['missing windows', ({ missingWindows }) => missingWindows.length],
  ['corrupt', ({ corrupt }) => corrupt.length],
  ['differ', ({ differing }) => differing],
  ['invalid', ({ invalid }) => invalid],
  ['gaps', ({ failingGaps }) => failingGaps],
  ['short', ({ short }) => short],
] satisfies [string, (series: JudgedSeries) => number][]

/** The series with something wrong or missing. */
export function failingTable(failing: readonly JudgedSeries[]): string {
  const columns = FAILURES.filter(([, count]) => failing.some(one => count(one) > 0))
  const names = columns.map(([name]) => name)
  const rows = failing.map(one => {
    const { symbol, interval, candles } = one
    return [symbol, interval, formatCount(candles), ...columns.map(([, count]) => formatCount(count(one)))]
  })
  return textTable({ head: ['symbol', 'interval', 'candles', ...names], rows, right: ['candles', ...names] })
}

/** All series. */
export function seriesTable(series: readonly JudgedSeries[]): string {
  const counts = ['candles', 'gaps', 'early', 'no trade', 'unverified']
  const rows = series.map(report => [
    seriesName(report),
    formatCount(report.candles),
    formatTime(report.firstOpenTime).slice(0, 10),
    formatTime(report.lastOpenTime).slice(0, 10),
    formatCount(report.gaps.length),
    formatCount(report.counts.early_close),
    formatCount(report.withoutTrades),
    formatCount(report.unverified),
  ])
  const head = ['series', 'candles', 'first', 'last', 'gaps', 'early', 'no trade', 'unverified']
  return textTable({ head, rows, right: counts })
}

/** All pairs of intervals. */
export function pairTable(pairs: VerificationReport['pairs']): string {
  const rows = pairs.map(({ symbol, interval, finer, comparisons }) => {
    return [symbol, interval, finer, formatCount(comparisons)]
  })
  return textTable({ head: ['symbol', 'interval', 'finer', 'comparisons'], rows, right: ['comparisons'] })
}

/** The cells of a candle beside those of the sum of its finer ones. */
export function sumTable(candle: CandleSum): string {
  const { cells, finer } = candle
  const show = (text: string, index: number) =>
    COLUMN_KINDS[index] === 'time' ? exactTime(Number(text)) : printable(text)
  const rows = COLUMNS.map((column, index) => {
    const sum = finer ? [show(finer.cells[index], index), finer.differing.includes(column) ? '!=' : ''] : []
    return [column, show(cells[index], index), ...sum]
  })
  const head = ['', 'candle', ...(finer ? [`sum of ${finer.candles} x ${finer.interval}`, ''] : [])]
  return `${candleName(candle)} (UTC):\n${textTable({ head, rows })}`
}

/** All series as CSV. */
export function seriesCsv(series: readonly JudgedSeries[]): string {
  const head = [
    ...['symbol', 'interval', 'windows', 'missing windows', 'corrupt windows', 'candles', 'first (UTC)', 'last (UTC)'],
    ...['gaps', 'missing candles', 'early close', 'no trade', 'invalid', 'different', 'notes', 'unverified'],
  ]
  const rows = series.map(one => [
    ...[one.symbol, one.interval, one.windows, one.missingWindows.length, one.corrupt.length, one.candles],
    ...[formatTime(one.firstOpenTime), formatTime(one.lastOpenTime), one.gaps.length],
    ...[sum(one.gaps.map(gap => gap.missing)), one.counts.early_close],
    ...[one.withoutTrades, one.invalid, one.differing, one.notes],
    one.unverified,
  ])
  return csvTable({ head, rows })
}
