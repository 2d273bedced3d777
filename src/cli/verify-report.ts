import type { Difference } from '../klines/comparison.js'
import type { OddityKind } from '../klines/inspect.js'
import { seriesName } from '../klines/series.js'
import type { KlinesVerdict, SeriesVerdict } from '../mirror/verify-klines.js'
import type { TableReport } from './table-report.js'
import { formatCount, formatTime, plural } from './text.js'

/** Oddities that are faults; the others are how the exchange was. */
const FAULTS: readonly OddityKind[] = ['duplicate', 'disorder', 'off_grid', 'insane']

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
export function verifyReport(verdict: KlinesVerdict): VerifyReport {
  const { series, differences, pairs, mirror } = verdict
  const comparisons = sum(pairs.map(pair => pair.comparisons))
  const unknown = differences.filter(({ known }) => !known)
  const faults = sum(series.map(one => one.unsound.length + countOf(one, ...FAULTS)))
  const windows = { total: sum(series.map(one => one.windows)), unsound: sum(series.map(one => one.unsound.length)) }
  const judged =
    windows.unsound > 0 ? ` ${plural(windows.unsound, 'window')} could not be read as what it should be.` : ''
  return {
    json: { mirror, series: series.map(jsonOf), comparisons, pairs, differences },
    table: tableOf(series, differences),
    lines: [
      `${plural(sum(series.map(one => one.candles)), 'candle')} of ${formatCount(series.length)} series in ${plural(windows.total, 'window')}.${judged}`,
      ...(pairs.length > 0 ? [comparisonLine(comparisons, pairs.length, differences.length, unknown.length)] : []),
      `Mirror: ${mirror}`,
    ],
    findings: [...series.flatMap(findingsOf), ...differences.map(differenceLine)],
    isFaulty: faults > 0 || unknown.length > 0,
    hasGaps: series.some(one => one.gaps.length > 0),
  }
}

function jsonOf({ oddities, gaps, ...one }: SeriesVerdict): object {
  const {
    symbol,
    interval,
    candles,
    firstOpenTime = null,
    lastOpenTime = null,
    windows,
    unsound,
    uncovered = null,
  } = one
  const of = (kind: OddityKind) => oddities.filter(oddity => oddity.kind === kind)
  return {
    symbol,
    interval,
    candles,
    firstOpenTime,
    lastOpenTime,
    windows,
    unsound,
    gaps,
    missing: sum(gaps.map(gap => gap.missing)),
    earlyClose: of('early_close').map(({ openTime }) => openTime),
    zeroTrades: of('zero_trades').map(({ openTime }) => openTime),
    faults: oddities.filter(({ kind }) => FAULTS.includes(kind)),
    uncovered,
  }
}

function tableOf(series: readonly SeriesVerdict[], differences: readonly Difference[]): TableReport {
  const counted = ['candles', 'gaps', 'missing', 'early close', 'no trade', 'faults', 'differences', 'not covered']
  const rows = series.map(one => [
    one.symbol,
    one.interval,
    one.candles,
    formatTime(one.firstOpenTime),
    formatTime(one.lastOpenTime),
    one.gaps.length,
    sum(one.gaps.map(gap => gap.missing)),
    countOf(one, 'early_close'),
    countOf(one, 'zero_trades'),
    countOf(one, ...FAULTS) + one.unsound.length,
    differences.filter(({ symbol, interval }) => symbol === one.symbol && interval === one.interval).length,
    one.uncovered ?? '-',
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

function findingsOf(one: SeriesVerdict): string[] {
  const name = seriesName(one)
  return [
    ...one.unsound.map(({ startDate, why }) => `${name} window ${startDate}: ${why}`),
    ...one.gaps.map(
      ({ startTime, endTime, missing, outage }) =>
        `${name} ${iso(startTime)} to ${iso(endTime)}: ${plural(missing, 'candle')} missing${outage ? ', for other symbols too: an outage of the exchange' : ''}`,
    ),
    ...one.oddities.map(({ openTime, what }) => `${name} ${iso(openTime)} ${what}`),
  ]
}

function differenceLine({ symbol, interval, finer, openTime, column, value, expected, known }: Difference): string {
  const note = known ? ' (known: the exchange has it so)' : ''
  return `${symbol} ${interval} ${iso(openTime)} ${column ?? 'is there'}: ${value}, but its ${finer} candles make ${expected}${note}`
}

function countOf({ oddities }: SeriesVerdict, ...kinds: OddityKind[]): number {
  return oddities.filter(({ kind }) => kinds.includes(kind)).length
}

function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
