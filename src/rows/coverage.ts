import { nextOpenTime } from '../candles/intervals.js'
import { type Series, type SeriesLabel, seriesName } from '../candles/series.js'
import { formatCount, formatTime, plural } from '../candles/text.js'
import { describeRequested, MAY_LAG_MS, type RequestedRange } from '../candles/time-range.js'
import { buildSeriesGrid, CandleGrid } from './candle-grid.js'
import type { SeriesTotals } from './gaps.js'
import type { TargetInterval } from './target-interval.js'

/** How much of a requested range a series has at its ends. Times are ms UTC. */
export interface Coverage {
  /** The length of the candles that are counted: of a resampled series the new one. */
  readonly interval: string
  /** The range as it was requested; an end that was not named is undefined. */
  readonly requested: { readonly from: number | undefined; readonly to: number | undefined }
  /** Open times of the first and the last candle in the range. */
  readonly first: number | undefined
  readonly last: number | undefined
  /** Closed candles of the range that are missing before the first one. */
  readonly shortAtStart: number
  /** Whether the range begins before the first candle of a static tree, which counts as the beginning of the series. */
  readonly isBeginning?: boolean
  /** Closed candles of the range that are missing after the last one; all of them in a range without a candle. */
  readonly shortAtEnd: number
}

interface RequestedSeries {
  readonly series: Series
  /** The candles that come of it: the series itself, or longer ones. */
  readonly label: SeriesLabel
  readonly resampleTo?: TargetInterval | undefined
}

/**
 * Counts the closed candles of a range that a series lacks at an end that was named. At an end that moves with the present, the newest 48
 * hours do not count; of the exchange the newest two candles. `begin`: when the first candle opens that the mirror has of the series, ms
 * UTC. `partial`: whether resampled candles that are covered in part are there.
 */
export function coverRange(
  { series, label, resampleTo }: RequestedSeries,
  { named: { from, to }, now, endMoves }: RequestedRange,
  { firstOpenTime, lastOpenTime }: Pick<SeriesTotals, 'firstOpenTime' | 'lastOpenTime'>,
  {
    rules,
    begin,
    partial = false,
  }: { rules: { kind: 'static' | 'exchange' | 'fixed' }; begin?: number | undefined; partial?: boolean | undefined },
): Coverage {
  const grid = resampleTo ? new CandleGrid(resampleTo, series.symbol) : buildSeriesGrid(series, firstOpenTime)
  const isThere = firstOpenTime !== undefined && lastOpenTime !== undefined
  const startTime = isThere ? grid.start(firstOpenTime) : undefined
  const endTime = isThere && (partial ? grid.next : grid.start).call(grid, nextOpenTime(series.interval, lastOpenTime))
  const isEmpty = startTime === undefined || endTime === false || endTime <= startTime
  const known = begin === undefined ? (startTime ?? -Infinity) : grid.start(begin)
  const start = Math.max(from ?? -Infinity, known)
  const end = to === undefined ? -Infinity : Math.min(grid.next(to), now)
  const missingFrom = isEmpty ? start : endTime
  const isFirst = rules.kind === 'static' && !isEmpty && begin !== undefined && known === startTime
  const isBeginning = isFirst && from !== undefined && grid.count(from, startTime) > 0
  const short = Number.isFinite(missingFrom) ? grid.count(missingFrom, end) : 0
  // The newest candles may not be there yet.
  const isLate = () => (to ?? now) - grid.end(grid.next(missingFrom)) <= MAY_LAG_MS
  const mayLag = endMoves && (rules.kind === 'exchange' ? short <= 2 : isLate())
  return {
    interval: label.interval,
    requested: { from, to },
    first: isEmpty ? undefined : startTime,
    last: isEmpty ? undefined : grid.start(endTime - 1),
    shortAtStart: from === undefined || isEmpty ? 0 : grid.count(start, startTime),
    ...(isBeginning && { isBeginning }),
    shortAtEnd: mayLag ? 0 : short,
  }
}

export function countShort({ shortAtStart, shortAtEnd }: Coverage): number {
  return shortAtStart + shortAtEnd
}

/** A series, and how much of the requested range it has. */
export interface CoveredSeries extends SeriesLabel, Pick<SeriesTotals, 'gaps' | 'missing'> {
  readonly coverage: Coverage
}

/** `candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end`; of several series without the candles. */
export function describeCoverage(coverage: Coverage, areSeveral = false): string {
  const { first, last, shortAtStart, shortAtEnd, isBeginning } = coverage
  const there = `candles from ${formatTime(first)} to ${formatTime(last)}: `
  const parts = [
    shortAtStart > 0 && `${formatCount(shortAtStart)} short at the start`,
    shortAtEnd > 0 && `${formatCount(shortAtEnd)} short${first === undefined ? '' : ' at the end'}`,
    isBeginning && 'the first one counts as the beginning of the series',
  ]
  return (first === undefined ? 'no candle: ' : areSeveral ? '' : there) + parts.filter(Boolean).join(', ')
}

/** A line for each series; those of an interval that lack the same share one: `1h, 5 symbols: 5,049 short at the end`. */
export function linesOf<S extends Pick<CoveredSeries, 'symbol' | 'coverage'>>(
  series: readonly S[],
  describe: (one: S, areSeveral: boolean) => string = ({ coverage }, areSeveral) =>
    describeCoverage(coverage, areSeveral),
): string[] {
  const shared = new Map<string, S[]>()
  for (const one of series) {
    const text = `${one.coverage.interval} ${describe(one, true)}`
    shared.set(text, [...(shared.get(text) ?? []), one])
  }
  return [...shared.values()].map(all => {
    const [{ symbol, coverage }] = all
    const { interval } = coverage
    const name = all.length === 1 ? seriesName({ symbol, interval }) : `${interval}, ${plural(all.length, 'symbol')}`
    return `${name}: ${describe(all[0], all.length > 1)}`
  })
}

/** A sentence for each series, or several, that is short at an end. */
export function shortSentences(series: readonly CoveredSeries[], range: RequestedRange): string[] {
  const short = series.filter(({ coverage }) => countShort(coverage) > 0)
  return linesOf(short).map(line => `${describeRequested(range)}; ${line}.`)
}
