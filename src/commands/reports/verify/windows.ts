import { wrap } from '../../../cli/terminal/text.js'
import type { Interval } from '../../../klines/intervals.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount } from '../../../klines/text.js'
import { formatDate, startDateAt, windowSpan } from '../../../klines/windows.js'
import { listFaults } from '../../../verify/inspect.js'
import type { VerifiedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'

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
