import { type Anomaly, type AnomalyKind, type CandleRun, isFault } from '../../../klines/audit/anomaly-log.js'
import type { Difference } from '../../../klines/audit/compare-series.js'
import type { Interval } from '../../../klines/intervals.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount, formatTime, plural } from '../../../klines/text.js'
import type { VerifiedSeries } from '../../../verify/verify.js'
import { sum } from '../report.js'

const MAX_WIDTH = 80

/** A difference, and every finer interval that shows it. */
export interface CandleDifference extends Omit<Difference, 'finer'> {
  readonly finer: Interval[]
}

/** Merges the same difference from several finer intervals; order stays. */
export function mergeDifferences(differences: readonly Difference[]): CandleDifference[] {
  const merged = new Map<string, CandleDifference>()
  for (const { finer, ...difference } of differences) {
    const key = Object.values(difference).join()
    const found = merged.get(key)
    if (found) found.finer.push(finer)
    else merged.set(key, { ...difference, finer: [finer] })
  }
  return [...merged.values()]
}

/** The candle, its value and the expected one, in one line or two. */
export function describeDifference(difference: CandleDifference): string {
  const { column, value, expected, finer } = difference
  const name = candleName(difference)
  const from = finer.join(', ')
  if (column === undefined) return joinParts(`${name}: ${value},`, `but ${expected} (${from})`)
  return joinParts(`${name} ${column}: ${value},`, `expected ${expected} (${from})`)
}

/** Both parts in one line, or the second one indented in a line of its own. */
export function joinParts(first: string, second: string): string {
  return first.length + 1 + second.length <= MAX_WIDTH ? `${first} ${second}` : `${first}\n    ${second}`
}

/** `BTCUSDT 1h 2024-01-01 12:00`, and with seconds for a candle that opens within a minute. */
function candleName(candle: { symbol: string; interval: string; openTime: number }): string {
  return `${candle.symbol} ${candle.interval} ${exactTime(candle.openTime)}`
}

/** `2024-01-01 12:00`, with seconds where there are any. */
export function exactTime(time: number): string {
  if (time % 60_000 === 0) return formatTime(time)
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '')
}

/** The faults of the candles of a series, the first of each kind. */
export function listFaults({ anomalies }: VerifiedSeries): VerifiedSeries['anomalies'] {
  return anomalies.filter(({ kind }) => isFault(kind))
}

/** The candles of a series that cannot be right, with the reason. */
export function invalidLines(report: VerifiedSeries): string[] {
  const faults = listFaults(report)
  const lines = faults.map(({ openTime, description }) =>
    joinParts(`${candleName({ ...report, openTime })}:`, description),
  )
  return [...lines, ...countMore(report, faults, isFault)]
}

/** One line for a series that has candles that the exchange itself has off the grid. */
export function offGridLines(report: VerifiedSeries): string[] {
  const count = report.counts.old_off_grid
  const candles = report.anomalies.filter(({ kind }) => kind === 'old_off_grid')
  if (count === 0) return []
  const [first, last] = [candles[0], candles[candles.length - 1]].map(({ openTime }) => exactTime(openTime))
  const span = count > candles.length ? `from ${first} on` : `${first} to ${last}`
  return [joinParts(`${seriesName(report)}: ${plural(count, 'candle')},`, span)]
}

/** The gaps of a series, then its harmless oddities in order of time. */
export function oddityLines(report: VerifiedSeries): string[] {
  const { gaps, anomalies, withoutTrades, runsWithoutTrades } = report
  const name = seriesName(report)
  const notes = anomalies.filter(({ kind }) => !isFault(kind))
  const listed = [
    ...notes.map(({ openTime, description }) => {
      return { time: openTime, line: `${candleName({ ...report, openTime })}: ${description}` }
    }),
    ...runsWithoutTrades.map(run => ({ time: run.startTime, line: `${name} ${describeRun(run)}` })),
  ]
  return [
    ...gaps.map(({ startTime, endTime, missing, outage }) => {
      const shared = outage ? ', an outage' : ''
      return `${name} ${exactTime(startTime)} to ${exactTime(endTime)}: ${plural(missing, 'candle')} missing${shared}`
    }),
    ...listed.toSorted((a, b) => a.time - b.time).map(({ line }) => line),
    ...countMore(report, notes, kind => !isFault(kind)),
    ...moreLine(report, withoutTrades - sum(runsWithoutTrades.map(({ candles }) => candles)), 'without a trade'),
  ]
}

function describeRun({ startTime, endTime, candles }: CandleRun): string {
  if (candles === 1) return `${exactTime(startTime)}: has no trade`
  return `${exactTime(startTime)} to ${exactTime(endTime)}: ${plural(candles, 'candle')} without a trade`
}

/** How many anomalies of such kinds a series has that are not listed. */
function countMore(
  report: VerifiedSeries,
  listed: readonly Anomaly[],
  isSuch: (kind: AnomalyKind) => boolean,
): string[] {
  const kinds = Object.entries(report.counts).filter(([kind]) => isSuch(kind as AnomalyKind))
  return moreLine(report, sum(kinds.map(([, count]) => count)) - listed.length, 'like these')
}

function moreLine(report: VerifiedSeries, count: number, what: string): string[] {
  return count > 0 ? [`${seriesName(report)}: ${formatCount(count)} more ${what}`] : []
}
