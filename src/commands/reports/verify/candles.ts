import { sum } from '../../../cli/reports/fields.js'
import { candleName, exactTime, wrap } from '../../../cli/terminal/text.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount, plural } from '../../../klines/text.js'
import { type Anomaly, type AnomalyKind, type CandleRun, isFault, listFaults } from '../../../verify/inspect.js'
import type { CandleDifference, VerifiedSeries } from '../../../verify/verdict.js'

/** The candle, its value and the expected one, in one line or two. */
export function describeDifference(difference: CandleDifference): string[] {
  const { column, value, expected, finer } = difference
  const name = candleName(difference)
  const from = finer.join(', ')
  if (column === undefined) return wrap([`${name}: ${value},`, `but ${expected} (${from})`])
  return wrap([`${name} ${column}: ${value},`, `expected ${expected} (${from})`])
}

/** The candles of a series that cannot be right, with the reason. */
export function invalidLines(report: VerifiedSeries): string[] {
  const faults = listFaults(report)
  const lines = faults.flatMap(({ openTime, description }) =>
    wrap([`${candleName({ ...report, openTime })}:`, description]),
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
  return wrap([`${seriesName(report)}: ${plural(count, 'candle')},`, span])
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
