import { tableOf } from '../../../cli/report.js'
import { sumOf } from '../../../cli/reports/fields.js'
import { column, count, day, derived, text, time } from '../../../cli/schema.js'
import { csvTable, textTable } from '../../../cli/terminal/table.js'
import { candleName, exactTime, printable } from '../../../cli/terminal/text.js'
import { COLUMN_KINDS, COLUMNS } from '../../../klines/columns.js'
import { seriesName } from '../../../klines/series.js'
import type { CandleSum } from '../../../verify/finer-sum.js'
import type { JudgedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'

/** A column of a number of a series. */
function counted(head: string, of: (series: JudgedSeries) => number) {
  return derived(column(head, count()), of)
}

const symbol = column('symbol', text())
const interval = column('interval', text())
const candles = column('candles', count())
const gaps = counted('gaps', ({ gaps }) => gaps.length)
const unverified = column('unverified', count())
const withoutTrades = column('no trade', count())

/** The columns of the table of failing series, left out where they are 0 for all. */
const FAILURES = {
  missingWindows: counted('missing windows', ({ missingWindows }) => missingWindows.length),
  corrupt: counted('corrupt', ({ corrupt }) => corrupt.length),
  differing: column('differ', count()),
  invalid: column('invalid', count()),
  failingGaps: column('gaps', count()),
  short: column('short', count()),
}

/** The series with something wrong or missing. */
export function failingTable(failing: readonly JudgedSeries[]): string {
  const { head, rows, right } = tableOf({ symbol, interval, candles, ...FAILURES }, failing)
  const shown = [...head.keys()].filter(index => index < 3 || rows.some(row => row[index] !== 0))
  const pick = <T>(cells: readonly T[]) => shown.map(index => cells[index])
  return textTable({ head: pick(head), rows: rows.map(pick), right })
}

const series = {
  series: derived(column('series', text()), seriesName),
  candles,
  firstOpenTime: column('first', day()),
  lastOpenTime: column('last', day()),
  gaps,
  early: counted('early', ({ counts }) => counts.early_close),
  withoutTrades,
  unverified,
}

/** All series. */
export function seriesTable(all: readonly JudgedSeries[]): string {
  return textTable(tableOf(series, all))
}

/** All pairs of intervals. */
export function pairTable(pairs: VerificationReport['pairs']): string {
  const columns = { symbol, interval, finer: column('finer', text()), comparisons: column('comparisons', count()) }
  return textTable(tableOf(columns, pairs))
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
export function seriesCsv(all: readonly JudgedSeries[]): string {
  const columns = {
    symbol,
    interval,
    windows: column('windows', count()),
    missingWindows: FAILURES.missingWindows,
    corrupt: counted('corrupt windows', ({ corrupt }) => corrupt.length),
    candles,
    firstOpenTime: column('first (UTC)', time()),
    lastOpenTime: column('last (UTC)', time()),
    gaps,
    missing: counted('missing candles', ({ gaps }) => sumOf(gaps, 'missing')),
    early: counted('early close', ({ counts }) => counts.early_close),
    withoutTrades,
    invalid: FAILURES.invalid,
    differing: column('different', count()),
    notes: column('notes', count()),
    unverified,
  }
  return csvTable(tableOf(columns, all, true))
}
