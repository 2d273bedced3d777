import { addLengths } from '../candles/intervals.js'
import { type SeriesLabel, seriesName, type WindowRef } from '../candles/series.js'
import { formatCount, formatTime, plural } from '../candles/text.js'
import { describeRequested, MAY_LAG_MS, type RequestedRange } from '../candles/time-range.js'
import { type WindowSpan, windowSpan } from '../candles/windows.js'
import { buildSeriesGrid, CandleGrid } from './candle-grid.js'
import type { SeriesTotals } from './gaps.js'
import { parseTargetInterval, type TargetInterval } from './target-interval.js'

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
  /** Closed candles of the range that are missing after the last one; all of them in a range without a candle. */
  readonly shortAtEnd: number
  /**
   * Of candles that are short because the range begins before the source's list of start dates, before which nothing is known: its first
   * date, `2022-01-01`, and as text whose list it is, and what may have older candles.
   */
  readonly list?: { readonly from: string; readonly why: string }
}

/** What is known of the beginning of a series. Times are ms UTC. */
export interface SeriesBeginning {
  readonly rules: { readonly kind: 'static' | 'exchange' | 'fixed' }
  /** When the first candle opens that is known of the series. */
  readonly begin?: number | undefined
  /** The list of start dates, if the range begins before it. */
  readonly list?: Coverage['list'] | undefined
}

interface RequestedSeries {
  /** The candles that were counted; those of a file may have any length. */
  readonly series: SeriesLabel
  /** The longer candles that come of them. */
  readonly resampleTo?: TargetInterval | undefined
  /** The windows that were read: a longer candle that opens before them is covered in part. */
  readonly windows?: readonly WindowRef[]
}

type Ends = Pick<SeriesTotals, 'firstOpenTime' | 'lastOpenTime'>

/**
 * Counts the closed candles of a range that a series lacks at an end that was named. At an end that moves with the present, the newest 48
 * hours do not count; of the exchange the newest two candles. `partial`: whether resampled candles that are covered in part are there.
 */
export function coverRange(
  one: RequestedSeries,
  range: RequestedRange,
  ends: Ends,
  beginning: SeriesBeginning,
  partial = false,
): Coverage {
  const { series, resampleTo } = one
  const { from, to } = range.named
  const { begin, list, rules } = beginning
  const grid = resampleTo ? new CandleGrid(resampleTo, series.symbol) : buildSeriesGrid(series, ends.firstOpenTime)
  const there = findSpan(one, grid, range, ends, partial)
  // The first candle that may be missing behind those that are there.
  const missingFrom = there?.endTime ?? from ?? (begin === undefined ? Infinity : grid.start(begin))
  const endTime = to === undefined ? -Infinity : Math.min(grid.next(to), range.now)
  const missing = there ? grid.count(missingFrom, endTime) : countKnown(one, grid, missingFrom, endTime, beginning)
  const shortAtStart = there && from !== undefined ? countKnown(one, grid, from, there.startTime, beginning) : 0
  const shortAtEnd = mayLag(grid, range, missingFrom, missing, rules.kind === 'exchange') ? 0 : missing
  const isBeforeList = shortAtStart > 0 || (there === undefined && shortAtEnd > 0)
  return {
    interval: resampleTo?.name ?? series.interval,
    requested: { from, to },
    first: there?.startTime,
    last: there && grid.start(there.endTime - 1),
    shortAtStart,
    shortAtEnd,
    ...(isBeforeList && list && { list }),
  }
}

/** From the open time of the first candle that is there to the end of the last one, ms UTC; undefined without a candle. */
function findSpan(
  { series, resampleTo, windows = [] }: RequestedSeries,
  grid: CandleGrid,
  { fromTime }: RequestedRange,
  { firstOpenTime, lastOpenTime }: Ends,
  partial: boolean,
): WindowSpan | undefined {
  if (firstOpenTime === undefined || lastOpenTime === undefined) return undefined
  let startTime = grid.start(firstOpenTime)
  const coveredFrom = partial || windows.length === 0 ? -Infinity : windowSpan(windows[0]).startTime
  // A longer candle is left out that opens before the range, or is covered in part.
  if (resampleTo && startTime < Math.max(fromTime, coveredFrom)) startTime = grid.end(startTime)
  const lastEnd = addLengths(parseTargetInterval(series.interval).length, lastOpenTime)
  const endTime = partial ? grid.next(lastEnd) : grid.start(lastEnd)
  return endTime > startTime ? { startTime, endTime } : undefined
}

/** The candles from `from` to `until`, both ms UTC, without those before the first candle of the series, as far as that is known. */
function countKnown(
  { windows = [] }: RequestedSeries,
  grid: CandleGrid,
  from: number,
  until: number,
  { begin, rules }: SeriesBeginning,
): number {
  if (begin === undefined) return grid.count(from, until)
  const first = Math.min(grid.start(begin), until)
  // The windows that were read are empty before that candle. Nobody knows of those before them, which a tree lacks or does not list.
  const unknownUntil = rules.kind === 'exchange' || windows.length === 0 ? -Infinity : windowSpan(windows[0]).startTime
  return grid.count(from, Math.min(unknownUntil, first)) + grid.count(Math.max(from, first), until)
}

/** Whether the newest candles are missing alone, which may not be there yet. */
function mayLag(grid: CandleGrid, range: RequestedRange, from: number, missing: number, isExchange: boolean): boolean {
  if (!range.endMoves || missing === 0) return false
  if (isExchange) return missing <= 2
  return (range.named.to ?? range.now) - grid.end(grid.next(from)) <= MAY_LAG_MS
}

export function countShort({ shortAtStart, shortAtEnd }: Coverage): number {
  return shortAtStart + shortAtEnd
}

/** A series, how much of the requested range it has, and what is missing between its candles, where that was counted. */
export interface CoveredSeries extends SeriesLabel, Partial<Pick<SeriesTotals, 'gaps' | 'missing'>> {
  readonly coverage: Coverage
}

/** `120 short at the end`; undefined for a range of which all is there. `why`: stands behind what is short before the first candle. */
export function describeShort({ first, shortAtStart, shortAtEnd }: Coverage, why = ''): string | undefined {
  const parts = [
    shortAtStart > 0 && `${formatCount(shortAtStart)} short at the start${why}`,
    shortAtEnd > 0 && `${formatCount(shortAtEnd)} short${first === undefined ? why : ' at the end'}`,
  ]
  return parts.filter(Boolean).join(', ') || undefined
}

/**
 * What a series lacks at its ends, and between its candles: `candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end; 3
 * candles missing in 1 gap`. Of several series without the candles that are there.
 */
export function describeLacks(
  { coverage, gaps = 0, missing = 0 }: CoveredSeries,
  areSeveral = false,
  separator = '; ',
): string {
  const { first, last, list } = coverage
  const short = describeShort(coverage, list && ` (${list.why})`)
  const there = areSeveral ? '' : `candles from ${formatTime(first)} to ${formatTime(last)}: `
  const parts = [
    short && `${first === undefined ? 'no candle: ' : there}${short}`,
    missing > 0 && `${plural(missing, 'candle')} missing in ${plural(gaps, 'gap')}`,
  ]
  return parts.filter(Boolean).join(separator)
}

/** A line for each series; those of an interval that lack the same share one: `1h, 5 symbols: 5,049 short at the end`. */
export function linesOf(series: readonly CoveredSeries[], separator = '; '): string[] {
  const shared = new Map<string, CoveredSeries[]>()
  for (const one of series) {
    const text = `${one.coverage.interval} ${describeLacks(one, true, separator)}`
    shared.set(text, [...(shared.get(text) ?? []), one])
  }
  return [...shared.values()].map(all => {
    const [{ symbol, coverage }] = all
    const { interval } = coverage
    const name = all.length === 1 ? seriesName({ symbol, interval }) : `${interval}, ${plural(all.length, 'symbol')}`
    return `${name}: ${describeLacks(all[0], all.length > 1, separator)}`
  })
}

/** What is said of each series, or several, that is short at an end. */
export function shortSentences(series: readonly CoveredSeries[], range: RequestedRange): string[] {
  const short = series.filter(({ coverage }) => countShort(coverage) > 0)
  return linesOf(short, '. ').map(line => `${describeRequested(range)}; ${line}.`)
}
