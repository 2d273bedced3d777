import type { Difference } from '../../klines/audit/compare-series.js'
import type { AnomalyKind } from '../../klines/audit/inspect.js'
import { seriesName } from '../../klines/series.js'
import type { SeriesReport, VerificationReport } from '../../verify/verify.js'
import { csvTable, type Table, textTable } from '../terminal/table.js'
import { formatCount, formatTime, plural } from '../terminal/text.js'
import type { Report } from './report.js'

/** Anomalies that are faults; the others happened at the exchange. */
const FAULTS: readonly AnomalyKind[] = ['duplicate', 'out_of_order', 'off_grid', 'invalid_values']
const COUNTS = ['gaps', 'missing', 'early close', 'no trade', 'faults', 'differences', 'not covered']

/** The result of a verification, and whether something is wrong (gaps apart). */
export interface VerifyReport extends Report {
  readonly isFaulty: boolean
  readonly hasGaps: boolean
}

/** `verify`: a table of the series; `verbose` also lists every finding with its time. */
export function verifyReport(
  result: VerificationReport,
  { format, verbose }: { format?: string | undefined; verbose: boolean },
): VerifyReport {
  const { series, differences, pairs, mirror } = result
  const comparisons = sum(pairs.map(pair => pair.comparisons))
  const table = toTable(series, differences)
  const text = () => {
    if (format === 'csv') return csvTable(table)
    const findings = verbose ? [...series.flatMap(listFindings), ...differences.map(describeDifference)] : []
    return [textTable(table), '', ...findings, ...(findings.length > 0 ? [''] : []), ...summaryLines(result)].join('\n')
  }
  return {
    json: { mirror, series: series.map(toJson), comparisons, pairs, differences },
    text,
    isFaulty: series.some(report => countFaults(report) > 0) || differences.some(({ note }) => !note),
    hasGaps: series.some(report => report.gaps.length > 0),
  }
}

function summaryLines({ series, differences, pairs, mirror }: VerificationReport): string[] {
  const corrupt = sum(series.map(report => report.corrupt.length))
  const note = corrupt > 0 ? ` ${plural(corrupt, 'window')} could not be read as what it should be.` : ''
  const candles = plural(sum(series.map(report => report.candles)), 'candle')
  const windows = plural(sum(series.map(report => report.windows)), 'window')
  const lines = [`${candles} of ${formatCount(series.length)} series in ${windows}.${note}`]
  if (pairs.length > 0) lines.push(comparisonLine(pairs, differences))
  return [...lines, `Mirror: ${mirror}`]
}

function comparisonLine(pairs: VerificationReport['pairs'], differences: readonly Difference[]): string {
  const comparisons = plural(sum(pairs.map(pair => pair.comparisons)), 'comparison')
  const compared = `${comparisons} of a candle with its finer ones over ${plural(pairs.length, 'pair')} of intervals`
  if (differences.length === 0) return `${compared}: no difference.`
  const known = differences.filter(({ note }) => note).length
  const note = known > 0 ? `, ${formatCount(known)} of them known to be the exchange's own` : ''
  return `${compared}: ${plural(differences.length, 'difference')}${note}.`
}

function toJson({ anomalies, ...report }: SeriesReport): object {
  const { symbol, interval, candles, firstOpenTime = null, lastOpenTime = null, windows, corrupt, gaps } = report
  const openTimes = (kind: AnomalyKind) =>
    anomalies.filter(anomaly => anomaly.kind === kind).map(({ openTime }) => openTime)
  return {
    symbol,
    interval,
    candles,
    firstOpenTime,
    lastOpenTime,
    windows,
    corrupt,
    gaps,
    missing: sum(gaps.map(gap => gap.missing)),
    earlyClose: openTimes('early_close'),
    zeroTrades: openTimes('zero_trades'),
    faults: anomalies.filter(({ kind }) => FAULTS.includes(kind)),
    unverified: report.unverified ?? null,
  }
}

function toTable(series: readonly SeriesReport[], differences: readonly Difference[]): Table {
  const rows = series.map(report => [
    report.symbol,
    report.interval,
    report.candles,
    formatTime(report.firstOpenTime),
    formatTime(report.lastOpenTime),
    report.gaps.length,
    sum(report.gaps.map(gap => gap.missing)),
    countAnomalies(report, 'early_close'),
    countAnomalies(report, 'zero_trades'),
    countFaults(report),
    differences.filter(difference => seriesName(difference) === seriesName(report)).length,
    report.unverified ?? '-',
  ])
  const head = ['symbol', 'interval', 'candles', 'first (UTC)', 'last (UTC)', ...COUNTS]
  return { head, rows, right: ['candles', ...COUNTS] }
}

function listFindings(report: SeriesReport): string[] {
  const name = seriesName(report)
  return [
    ...report.corrupt.map(({ startDate, reason }) => `${name} window ${startDate}: ${reason}`),
    ...report.gaps.map(
      ({ startTime, endTime, missing, outage }) =>
        `${name} ${iso(startTime)} to ${iso(endTime)}: ${plural(missing, 'candle')} missing${outage ? ', for other symbols too: an outage of the exchange' : ''}`,
    ),
    ...report.anomalies.map(({ openTime, description }) => `${name} ${iso(openTime)} ${description}`),
  ]
}

function describeDifference({ symbol, interval, finer, openTime, column, value, expected, note }: Difference): string {
  const remark = note ? ` (${note})` : ''
  return `${symbol} ${interval} ${iso(openTime)} ${column ?? 'is there'}: ${value}, but its ${finer} candles make ${expected}${remark}`
}

function countFaults(report: SeriesReport): number {
  return report.corrupt.length + countAnomalies(report, ...FAULTS)
}

function countAnomalies({ anomalies }: SeriesReport, ...kinds: AnomalyKind[]): number {
  return anomalies.filter(({ kind }) => kinds.includes(kind)).length
}

function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
