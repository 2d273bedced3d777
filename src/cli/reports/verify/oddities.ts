import { type Anomaly, type AnomalyKind, type CandleRun, isFault } from '../../../klines/audit/anomaly-log.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount, plural } from '../../../klines/text.js'
import type { SeriesReport } from '../../../verify/series-report.js'
import { sum } from '../sum.js'
import { candleName, exactTime, joinParts } from './differences.js'
import { listFaults } from './verdict.js'

/** The candles of a series that cannot be right, with the reason. */
export function invalidLines(report: SeriesReport): string[] {
  const faults = listFaults(report)
  const lines = faults.map(({ openTime, description }) =>
    joinParts(`${candleName({ ...report, openTime })}:`, description),
  )
  return [...lines, ...countMore(report, faults, isFault)]
}

/** One line for a series that has candles that the exchange itself has off the grid. */
export function offGridLines(report: SeriesReport): string[] {
  const count = report.counts.old_off_grid
  const candles = report.anomalies.filter(({ kind }) => kind === 'old_off_grid')
  if (count === 0) return []
  const [first, last] = [candles[0], candles[candles.length - 1]].map(({ openTime }) => exactTime(openTime))
  const span = count > candles.length ? `from ${first} on` : `${first} to ${last}`
  return [joinParts(`${seriesName(report)}: ${plural(count, 'candle')},`, span)]
}

/** The gaps of a series, then its harmless oddities in order of time. */
export function oddityLines(report: SeriesReport): string[] {
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
function countMore(report: SeriesReport, listed: readonly Anomaly[], isSuch: (kind: AnomalyKind) => boolean): string[] {
  const kinds = Object.entries(report.counts).filter(([kind]) => isSuch(kind as AnomalyKind))
  return moreLine(report, sum(kinds.map(([, count]) => count)) - listed.length, 'like these')
}

function moreLine(report: SeriesReport, count: number, what: string): string[] {
  return count > 0 ? [`${seriesName(report)}: ${formatCount(count)} more ${what}`] : []
}
