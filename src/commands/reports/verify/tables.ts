import { COLUMN_KINDS, COLUMNS } from '../../../candles/columns.js'
import { type Series, seriesName } from '../../../candles/series.js'
import { formatCount, formatTime, plural } from '../../../candles/text.js'
import { tableOf } from '../../../cli/report.js'
import { sumOf } from '../../../cli/reports/fields.js'
import { column, count, day, derived, text, time } from '../../../cli/schema.js'
import { csvTable, textTable } from '../../../cli/terminal/table.js'
import { candleName, exactTime, printable } from '../../../cli/terminal/text.js'
import type { CandleSum } from '../../../verify/finer-sum.js'
import type { JudgedSeries, Outage } from '../../../verify/verdict.js'
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

/** Longer tables show the longest outages only. */
const MAX_ROWS = 10
/** More symbols are counted, and so are more intervals. */
const MAX_SYMBOLS = 3
const MAX_INTERVALS = 9

/** Tables of the outages, one for those of the exchange and one for gaps that only one symbol has. */
export function outageSections(outages: readonly Outage[], symbols: number, verbose: boolean): string[] {
  const shared = outages.filter(({ isShared }) => isShared)
  const single = outages.filter(({ isShared }) => !isShared)
  const singleTitle = symbols === 1 ? 'Gaps, usually outages of the exchange' : 'Gaps of a single symbol'
  return [
    ...(shared.length > 0 ? [outageTable('Outages of the exchange', shared, verbose)] : []),
    ...(single.length > 0 ? [outageTable(singleTitle, single, verbose)] : []),
  ]
}

function outageTable(title: string, outages: readonly Outage[], verbose: boolean): string {
  const longestFirst = outages.toSorted((a, b) => length(b) - length(a))
  const listed = new Set(verbose ? outages : longestFirst.slice(0, MAX_ROWS))
  const rows = outages
    .filter(outage => listed.has(outage))
    .map(outage => [formatTime(outage.startTime), formatLength(length(outage)), describeSeries(outage.series)])
  const more = rows.length < outages.length ? `, the ${rows.length} longest (all with -v)` : ''
  const table = textTable({ head: ['start (UTC)', 'length', 'series'], rows, right: ['length'] })
  return `${title}: ${formatCount(outages.length)}${more}\n${table}`
}

function describeSeries(series: readonly Series[]): string {
  const symbols = [...new Set(series.map(({ symbol }) => symbol))]
  const intervals = [...new Set(series.map(({ interval }) => interval))]
  const count = `${formatCount(series.length)} series`
  if (symbols.length > MAX_SYMBOLS) return `${count} of ${plural(symbols.length, 'symbol')}`
  if (symbols.length > 1 || intervals.length > MAX_INTERVALS) return `${count} of ${symbols.join(', ')}`
  return `${symbols[0]} ${intervals.join(', ')}`
}

function length({ startTime, endTime }: Outage): number {
  return endTime - startTime
}

/** `45 min`, `33 h`, `1 h 30 min`, `12 d 4 h`. */
function formatLength(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [days, hours] =
    minutes < 48 * 60 ? [0, Math.floor(minutes / 60)] : [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  const parts = [
    days > 0 && `${formatCount(days)} d`,
    hours > 0 && `${hours} h`,
    minutes % 60 > 0 && `${minutes % 60} min`,
  ]
  return parts.filter(Boolean).slice(0, 2).join(' ')
}
