import { type CandleSpan, type Coverage, measureCoverage } from '../klines/audit/coverage.js'
import type { SeriesTotals } from '../klines/audit/gap-counter.js'
import { KlinesError } from '../klines/errors.js'
import { type Interval, nextOpenTime } from '../klines/intervals.js'
import { buildSeriesGrid, CandleGrid } from '../klines/resample/candle-grid.js'
import { nextStart, parseTargetInterval } from '../klines/resample/target-interval.js'
import { type Series, type SeriesLabel, seriesName, type WindowRef } from '../klines/series.js'
import { formatCount, formatTime, plural } from '../klines/text.js'
import type { RequestedRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import { findRules } from '../trees/find-rules.js'
import type { TreeRules } from '../trees/tree-rules.js'
import { NOT_EXPORTED } from './errors.js'
import type { SeriesPlan } from './plan.js'
import type { SourceInfo, WindowSource } from './sources/window-source.js'

/** Open times of the first and last candle of a series in a range, ms UTC; undefined without one. */
type SeriesTimes = Pick<SeriesTotals, 'firstOpenTime' | 'lastOpenTime'>

/** A series, and how much of the requested range it has. */
export interface CoveredSeries extends SeriesLabel {
  readonly coverage: Coverage
}

/** The most series that an error lists. */
const MAX_LISTED = 5

/** How much of a requested range a series has, by the totals of its candles there. `seriesStart`: when its first known candle opens. */
export function coverSeries(
  { symbol, interval }: Series,
  range: RequestedRange,
  totals: SeriesTimes,
  seriesStart: number | undefined,
): Coverage {
  const grid = buildSeriesGrid({ symbol, interval }, totals.firstOpenTime)
  return measureCoverage({ interval, grid, range, span: findSpan(interval, totals), seriesStart })
}

/**
 * The same for a series of a plan, or what is made of it. `partial` as for the export.
 */
export function coverPlan(
  { source, range, partial }: { source: WindowSource; range: RequestedRange; partial?: boolean | undefined },
  { series, listedFrom, resampleTo: target }: Pick<SeriesPlan, 'series' | 'listedFrom' | 'resampleTo'>,
  totals: SeriesTimes,
): Coverage {
  const seriesStart = source.info.first(series)
  const span = findSpan(series.interval, totals)
  if (target === undefined) return coverSeries(series, range, totals, seriesStart)
  const grid = new CandleGrid(target, series.symbol)
  return measureCoverage({ interval: target.name, grid, range, span, seriesStart, partial, coveredFrom: listedFrom })
}

/**
 * Until when the windows of a series, which ascend, surely have all its candles, ms UTC; -Infinity if the first one may lack some.
 * Nothing was traded between the last candle and that time. `until`: the same of the windows before them, if there are any.
 */
export function completeUntil(
  source: Pick<WindowSource, 'hasAllCandles'>,
  windows: readonly WindowRef[],
  until = Number.NEGATIVE_INFINITY,
): number {
  for (const window of windows) {
    const { startTime, endTime } = windowSpan(window)
    if ((until !== -Infinity && startTime !== until) || !source.hasAllCandles(window)) break
    until = endTime
  }
  return until
}

function findSpan(interval: Interval, { firstOpenTime, lastOpenTime }: SeriesTimes): CandleSpan | undefined {
  if (firstOpenTime === undefined || lastOpenTime === undefined) return undefined
  return { startTime: firstOpenTime, endTime: nextOpenTime(interval, lastOpenTime) }
}

/** Whether a series lacks closed candles of a range that its tree should have by now. */
export function isShort(coverage: Coverage, { endMoves, named, now }: RequestedRange, rules: TreeRules): boolean {
  const { interval, shortAtStart, shortAtEnd, shortFrom } = coverage
  if (shortAtStart > 0 || shortFrom === undefined) return shortAtStart > 0
  if (!endMoves) return true
  const closed = nextStart(parseTargetInterval(interval), shortFrom)
  return !rules.mayLag(shortAtEnd, (named.to ?? now) - closed)
}

/** Candles that are missing at both ends. */
export function countShort({ shortAtStart, shortAtEnd }: Coverage): number {
  return shortAtStart + shortAtEnd
}

/** What is said of a series that has less of a range than its tree should have by now, or may have; undefined for nothing. */
export function describeShort(coverage: Coverage, range: RequestedRange, rules: TreeRules): string | undefined {
  return countShort(coverage) === 0 || isShort(coverage, range, rules) ? describeCoverage(coverage, rules) : undefined
}

/** The same as a sentence of its own for each series that it is said of. */
export function shortSentences(
  series: readonly CoveredSeries[],
  range: RequestedRange,
  { baseUrl }: Pick<SourceInfo, 'baseUrl'>,
): string[] {
  const rules = findRules(baseUrl)
  return series.flatMap(({ symbol, coverage }) => {
    const text = describeShort(coverage, range, rules)
    const name = seriesName({ symbol, interval: coverage.interval })
    return text === undefined ? [] : [`${describeRequested(range)}; ${name}: ${text}.`]
  })
}

/**
 * What a series has of the requested range, when less is there than was requested: one sentence without a period at its end.
 * Undefined when all is there.
 */
function describeCoverage(coverage: Coverage, rules: TreeRules): string | undefined {
  const { first, last, shortAtStart, shortAtEnd } = coverage
  // The exchange says which candle is the first one of a series; a static tree may begin anywhere.
  const isBeginning = shortAtStart === 0 && beginsLater(coverage) && !rules.rendersAnswers
  if (shortAtStart + shortAtEnd === 0 && !isBeginning) return undefined
  const there = first === undefined ? 'no candle' : `candles from ${formatTime(first)} to ${formatTime(last)}`
  const parts = [
    ...(shortAtStart > 0 ? [`${formatCount(shortAtStart)} short at the start`] : []),
    ...(shortAtEnd > 0 ? [`${formatCount(shortAtEnd)} short${first === undefined ? '' : ' at the end'}`] : []),
    ...(isBeginning ? ['the first one counts as the beginning of the series'] : []),
  ]
  return `${there}: ${parts.join(', ')}`
}

/** `Requested 2025-11-23 10:14 to 2026-11-23 10:14 UTC`, or the one end that was named. */
export function describeRequested({ named: { from, to } }: RequestedRange): string {
  if (to === undefined) return `Requested from ${formatTime(from)} UTC on`
  return `Requested ${from === undefined ? 'up' : formatTime(from)} to ${formatTime(to)} UTC`
}

/** A series, and how many of its candles are missing between two others. */
interface LackingSeries extends CoveredSeries, Pick<SeriesTotals, 'gaps' | 'missing'> {}

/** Throws `incomplete` for series that lack closed candles of a range: between two others, or at an end that was named. */
export function checkGaps(
  series: readonly LackingSeries[],
  range: RequestedRange,
  { baseUrl }: Pick<SourceInfo, 'baseUrl'>,
  forExport = false,
): void {
  const rules = findRules(baseUrl)
  const lacking = series.filter(({ missing, coverage }) => missing > 0 || isShort(coverage, range, rules))
  if (lacking.length === 0) return
  const lines = lacking.slice(0, MAX_LISTED).map(report => {
    const { missing, gaps, coverage } = report
    const inside = missing > 0 ? [`${plural(missing, 'candle')} missing in ${plural(gaps, 'gap')}`] : []
    return `${seriesName({ ...report, interval: coverage.interval })}: ${[describeCoverage(coverage, rules) ?? [], ...inside].flat().join('; ')}`
  })
  if (lacking.length > MAX_LISTED) lines.push(`and ${lacking.length - MAX_LISTED} other series`)
  const head = `${describeRequested(range)}; ${lacking.length} of ${series.length} series ${lacking.length === 1 ? 'lacks' : 'lack'} candles${forExport ? `, so ${NOT_EXPORTED}` : ''}:`
  throw new KlinesError('incomplete', [head, ...lines].join('\n'), {
    data: { series: lacking.map(describeLack) },
    suggestions: ['Without `failOnGaps` such a run takes what is there.'],
  })
}

function describeLack({ symbol, missing, coverage: { interval, shortAtStart, shortAtEnd } }: LackingSeries) {
  return { symbol, interval, missing, shortAtStart, shortAtEnd }
}

/** Whether the range has room for candles before the first one. */
function beginsLater({ interval, requested, first }: Coverage): boolean {
  if (requested.from === undefined || first === undefined) return false
  return nextStart(parseTargetInterval(interval), requested.from) <= first
}
