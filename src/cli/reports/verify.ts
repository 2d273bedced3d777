import type { Difference } from '../../klines/audit/compare-series.js'
import type { AnomalyKind } from '../../klines/audit/inspect.js'
import { seriesName } from '../../klines/series.js'
import type { SeriesReport, VerificationReport } from '../../verify/verify.js'
import type { TableReport } from '../terminal/table.js'
import { formatCount, formatTime, plural } from '../terminal/text.js'

/** Oddities that are faults; the others are how the exchange was. */
const FAULTS: readonly AnomalyKind[] = ['duplicate', 'out_of_order', 'off_grid', 'invalid_values']

/** What a verification has to say, for people and for scripts. */
export interface VerifyReport {
  readonly json: object
  readonly table: TableReport
  /** What stands below the table. */
  readonly lines: readonly string[]
  /** Every finding with its time. */
  readonly findings: readonly string[]
  /** Whether something is wrong, gaps left aside. */
  readonly isFaulty: boolean
  readonly hasGaps: boolean
}

/** Puts a verdict into words and figures. */
export function verifyReport(verdict: VerificationReport): VerifyReport {
  const { series, differences, pairs, mirror } = verdict
  const comparisons = sum(pairs.map(pair => pair.comparisons))
  const unknown = differences.filter(({ note }) => !note)
  const faults = sum(series.map(one => one.corrupt.length + countAnomalies(one, ...FAULTS)))
  const windows = { total: sum(series.map(one => one.windows)), corrupt: sum(series.map(one => one.corrupt.length)) }
  const judged =
    windows.corrupt > 0 ? ` ${plural(windows.corrupt, 'window')} could not be read as what it should be.` : ''
  return {
    json: { mirror, series: series.map(toJson), comparisons, pairs, differences },
    table: toTable(series, differences),
    lines: [
      `${plural(sum(series.map(one => one.candles)), 'candle')} of ${formatCount(series.length)} series in ${plural(windows.total, 'window')}.${judged}`,
      ...(pairs.length > 0 ? [comparisonLine(comparisons, pairs.length, differences.length, unknown.length)] : []),
      `Mirror: ${mirror}`,
    ],
    findings: [...series.flatMap(listFindings), ...differences.map(differenceLine)],
    isFaulty: faults > 0 || unknown.length > 0,
    hasGaps: series.some(one => one.gaps.length > 0),
  }
}

function toJson({ anomalies, gaps, ...one }: SeriesReport): object {
  const {
    symbol,
    interval,
    candles,
    firstOpenTime = null,
    lastOpenTime = null,
    windows,
    corrupt,
    unverified = null,
  } = one
  const of = (kind: AnomalyKind) => anomalies.filter(anomaly => anomaly.kind === kind)
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
    earlyClose: of('early_close').map(({ openTime }) => openTime),
    zeroTrades: of('zero_trades').map(({ openTime }) => openTime),
    faults: anomalies.filter(({ kind }) => FAULTS.includes(kind)),
    unverified,
  }
}

function toTable(series: readonly SeriesReport[], differences: readonly Difference[]): TableReport {
  const counted = ['candles', 'gaps', 'missing', 'early close', 'no trade', 'faults', 'differences', 'not covered']
  const rows = series.map(one => [
    one.symbol,
    one.interval,
    one.candles,
    formatTime(one.firstOpenTime),
    formatTime(one.lastOpenTime),
    one.gaps.length,
    sum(one.gaps.map(gap => gap.missing)),
    countAnomalies(one, 'early_close'),
    countAnomalies(one, 'zero_trades'),
    countAnomalies(one, ...FAULTS) + one.corrupt.length,
    differences.filter(({ symbol, interval }) => symbol === one.symbol && interval === one.interval).length,
    one.unverified ?? '-',
  ])
  const [candles, ...rest] = counted
  return { head: ['symbol', 'interval', candles, 'first (UTC)', 'last (UTC)', ...rest], rows, right: counted }
}

function comparisonLine(comparisons: number, pairs: number, differences: number, unknown: number): string {
  const compared = `${plural(comparisons, 'comparison')} of a candle with its finer ones over ${plural(pairs, 'pair')} of intervals`
  if (differences === 0) return `${compared}: no difference.`
  const known = differences - unknown
  const note = known > 0 ? `, ${formatCount(known)} of them known to be the exchange's own` : ''
  return `${compared}: ${plural(differences, 'difference')}${note}.`
}

function listFindings(one: SeriesReport): string[] {
  const name = seriesName(one)
  return [
    ...one.corrupt.map(({ startDate, reason }) => `${name} window ${startDate}: ${reason}`),
    ...one.gaps.map(
      ({ startTime, endTime, missing, outage }) =>
        `${name} ${iso(startTime)} to ${iso(endTime)}: ${plural(missing, 'candle')} missing${outage ? ', for other symbols too: an outage of the exchange' : ''}`,
    ),
    ...one.anomalies.map(({ openTime, description }) => `${name} ${iso(openTime)} ${description}`),
  ]
}

function differenceLine({ symbol, interval, finer, openTime, column, value, expected, note }: Difference): string {
  const remark = note ? ' (known: the exchange has it so)' : ''
  return `${symbol} ${interval} ${iso(openTime)} ${column ?? 'is there'}: ${value}, but its ${finer} candles make ${expected}${remark}`
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
