import { DAY_MS } from '../../candles/intervals.js'
import { seriesName } from '../../candles/series.js'
import { formatCount } from '../../candles/text.js'
import type { RequestedRange } from '../../candles/time-range.js'
import { type CoveredSeries, countShort, describeCoverage, describeRequested } from '../../engine/coverage.js'
import { parseTargetInterval, slotAfter } from '../../rows/target-interval.js'
import { exchangeMayHaveMore } from '../../sources/base-url.js'
import { formatDuration } from '../terminal/text.js'

/** Series that are listed one by one. */
const MAX_LISTED = 4
/** A service that is refreshed once a day has newer candles. */
const STALE_MS = 2 * DAY_MS

/** A series and how much of the range it has. */
type Covered = Pick<CoveredSeries, 'symbol' | 'interval' | 'coverage'>

/** What the candles were requested from, and how. */
interface CoverageDetails {
  readonly range: RequestedRange
  readonly baseUrl: string | undefined
  /** List every series. */
  readonly verbose: boolean
}

/** The series that have less than was requested, how old their source is, and what may have more; undefined when all is there. */
export function coverageText(series: readonly Covered[], details: CoverageDetails): string | undefined {
  const { range, verbose } = details
  const lines = series.flatMap(one => {
    if (countShort(one.coverage) === 0 && !one.coverage.isBeginning) return []
    const text = describeCoverage(one.coverage)
    return series.length === 1 ? text : `${seriesName({ ...one, interval: one.coverage.interval })}: ${text}`
  })
  if (lines.length === 0) return undefined
  const advice = staleAdvice(series, details)
  const requested = `${describeRequested(range)};`
  if (lines.length === 1) return [`${requested} ${lines[0]}.`, ...advice].join(' ')
  const listed = verbose ? lines : lines.slice(0, MAX_LISTED)
  const more = lines.length - listed.length
  const rest = more === 0 ? [] : [`and ${formatCount(more)} more series; --json has all of them`]
  return [`${requested} less is there of ${formatCount(lines.length)} series:`, ...listed, ...rest, ...advice].join(
    '\n',
  )
}

/** How old the newest candle is when that of a range up to the present is missing. */
function staleAdvice(series: readonly Covered[], { range, baseUrl }: CoverageDetails): string[] {
  const { named, now } = range
  if (named.to === undefined || named.to < now - STALE_MS || !exchangeMayHaveMore(baseUrl)) return []
  const ends = series.flatMap(({ coverage: { interval, last } }) => {
    return last === undefined ? [] : [slotAfter(parseTargetInterval(interval), last, 1)]
  })
  const age = now - Math.max(...ends)
  if (ends.length === 0 || age < STALE_MS) return []
  return [`The newest candle of this source is ${formatDuration(age)} old; --base-url binance may have newer ones.`]
}
