import type { Interval } from '../../../candles/intervals.js'
import { seriesName } from '../../../candles/series.js'
import { formatCount, plural } from '../../../candles/text.js'
import { formatDate, startDateAt, windowSpan } from '../../../candles/windows.js'
import { sum } from '../../../cli/reports/fields.js'
import { candleName, exactTime, wrap } from '../../../cli/terminal/text.js'
import { type Anomaly, type AnomalyKind, type CandleRun, isFault, listFaults } from '../../../verify/inspect.js'
import type { CandleDifference, VerifiedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'

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

/** More successive windows are shown as their first and last one. */
const MAX_SUCCESSIVE = 6

/** Each series with its missing windows. */
export function missingLines(series: readonly VerifiedSeries[], verbose: boolean): string[] {
  return series
    .filter(({ missingWindows }) => missingWindows.length > 0)
    .flatMap(report => {
      const { interval, missingWindows } = report
      const list = (verbose ? missingWindows : shorten(interval, missingWindows)).join(', ')
      return wrap(`${seriesName(report)}: ${list}`.split(/(?<=,) /))
    })
}

/** Each corrupt window with the reason. */
export function corruptLines(series: readonly VerifiedSeries[]): string[] {
  return series.flatMap(report =>
    report.corrupt.map(({ startDate, reason }) => `${seriesName(report)} ${startDate}: ${reason}`),
  )
}

/** `2024-01-01`, or `2022-01-01 to 2023-12-01 (24)` for windows that follow each other. */
function shorten(interval: Interval, startDates: readonly string[]): string[] {
  const runs: string[][] = []
  let next = ''
  for (const startDate of startDates) {
    if (startDate === next) runs.at(-1)?.push(startDate)
    else runs.push([startDate])
    next = formatDate(windowSpan({ interval, startDate }).endTime)
  }
  return runs.flatMap(run =>
    run.length <= MAX_SUCCESSIVE ? run : [`${run[0]} to ${run.at(-1)} (${formatCount(run.length)})`],
  )
}

/** More series than this are not repaired one by one. */
const MAX_COMMANDS = 3

/** What downloads the windows of failing series again, with the flags of `location`; none for many series. */
export function repairLines({ series, faults }: VerificationReport, location: string): string[] {
  const failing = series.filter(({ isFailing }) => isFailing)
  const commands = failing.flatMap(one => {
    const { symbol, interval, missingWindows, corrupt, differing, invalid } = one
    const times = [
      ...listFaults(one).map(({ openTime }) => openTime),
      ...faults.filter(fault => seriesName(fault) === seriesName(one)).map(({ openTime }) => openTime),
    ]
    const dates = [
      ...missingWindows,
      ...corrupt.map(({ startDate }) => startDate),
      ...times.map(time => startDateAt(interval, time)),
    ].sort()
    if (dates.length === 0) return []
    const to = formatDate(windowSpan({ interval, startDate: dates[dates.length - 1] }).endTime)
    const refresh = differing + invalid > 0 ? ' --refresh' : ''
    return [`    klines download ${symbol} -i ${interval} --from ${dates[0]} --to ${to}${refresh}${location}`]
  })
  return commands.length > MAX_COMMANDS ? [] : commands
}
