import { type CandleSpan, type Coverage, type Listing, measureCoverage } from '../klines/audit/coverage.js'
import type { SeriesTotals } from '../klines/audit/gap-counter.js'
import { type Interval, nextOpenTime } from '../klines/intervals.js'
import { buildSeriesGrid, CandleGrid } from '../klines/resample/candle-grid.js'
import { nextStart, parseTargetInterval } from '../klines/resample/target-interval.js'
import type { Series, SeriesLabel } from '../klines/series.js'
import { formatCount, formatTime } from '../klines/text.js'
import type { RequestedRange } from '../klines/time-range.js'
import type { TreeRules } from '../trees/tree-rules.js'
import { completeUntil } from './complete-until.js'
import type { SeriesPlan } from './plan.js'
import type { WindowSource } from './sources/window-source.js'

/** Open times of the first and last candle of a series in a range, ms UTC; undefined without one. */
type SeriesTimes = Pick<SeriesTotals, 'firstOpenTime' | 'lastOpenTime'>

/** A series, and how much of the requested range it has. */
export interface CoveredSeries extends SeriesLabel {
  readonly coverage: Coverage
}

/** How much of a requested range a series has, by the totals of its candles there. */
export function coverSeries(series: Series, range: RequestedRange, totals: SeriesTimes, listing: Listing): Coverage {
  const { symbol, interval } = series
  const grid = buildSeriesGrid({ symbol, interval }, totals.firstOpenTime)
  return measureCoverage({ interval, grid, range, span: findSpan(interval, totals), listing })
}

/** The same for a series of a plan, and what is made of it; `partial` as for the export. */
export function coverPlan(
  source: WindowSource,
  range: RequestedRange,
  { series, windows, resampleTo }: SeriesPlan,
  totals: SeriesTimes,
  partial?: boolean,
): Coverage {
  const listing = source.info.listing(series.symbol)
  if (resampleTo === undefined) return coverSeries(series, range, totals, listing)
  const grid = new CandleGrid(resampleTo, series.symbol)
  const span = findSpan(series.interval, totals)
  // A long candle is whole, too, when its last parts are known not to exist.
  const endTime = span && Math.max(span.endTime, Math.min(completeUntil(source, windows), grid.next(span.endTime)))
  const made = span && { ...span, endTime: endTime as number }
  return measureCoverage({ interval: resampleTo.name, grid, range, span: made, listing, partial })
}

function findSpan(interval: Interval, { firstOpenTime, lastOpenTime }: SeriesTimes): CandleSpan | undefined {
  if (firstOpenTime === undefined || lastOpenTime === undefined) return undefined
  return { startTime: firstOpenTime, endTime: nextOpenTime(interval, lastOpenTime) }
}

/** Whether a series lacks closed candles of a range that its tree should have by now. */
export function isShort(coverage: Coverage, { endMoves, named, now }: RequestedRange, rules: TreeRules): boolean {
  const { interval, shortAtStart, shortAtEnd, last } = coverage
  if (shortAtStart > 0) return true
  if (shortAtEnd === 0 || !endMoves || last === undefined) return shortAtEnd > 0
  const target = parseTargetInterval(interval)
  const closed = nextStart(target, nextStart(target, last))
  return !rules.mayLag(shortAtEnd, (named.to ?? now) - closed)
}

/** Candles that are missing at both ends. */
export function countShort({ shortAtStart, shortAtEnd }: Coverage): number {
  return shortAtStart + shortAtEnd
}

/**
 * What a series has of the requested range, when less is there than was requested: one sentence without a period at its end.
 * Undefined when all is there.
 */
export function describeCoverage(coverage: Coverage): string | undefined {
  const { first, last, shortAtStart, shortAtEnd } = coverage
  const isUnknown = shortAtStart === 0 && startIsUnknown(coverage)
  if (shortAtStart + shortAtEnd === 0 && !isUnknown) return undefined
  const there = first === undefined ? 'no candle' : `candles from ${formatTime(first)} to ${formatTime(last)}`
  const parts = [
    ...(shortAtStart > 0 ? [`${formatCount(shortAtStart)} short at the start`] : []),
    ...(shortAtEnd > 0 ? [`${formatCount(shortAtEnd)} short${first === undefined ? '' : ' at the end'}`] : []),
    ...(isUnknown ? ['since when it was traded is not known'] : []),
  ]
  return `${there}: ${parts.join(', ')}`
}

/** `Requested 2025-11-23 10:14 to 2026-11-23 10:14 UTC`, or the one end that was named. */
export function describeRequested({ named: { from, to } }: RequestedRange): string {
  if (to === undefined) return `Requested from ${formatTime(from)} UTC on`
  return `Requested ${from === undefined ? 'up' : formatTime(from)} to ${formatTime(to)} UTC`
}

/** Whether more candles may be missing before the first one: a start was named, and nothing tells when trading began. */
function startIsUnknown({ interval, requested, first, listed }: Coverage): boolean {
  if (listed !== 'unknown' || requested.from === undefined || first === undefined) return false
  return nextStart(parseTargetInterval(interval), requested.from) <= first
}
