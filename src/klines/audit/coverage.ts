import type { CandleGrid } from '../resample/candle-grid.js'
import type { RequestedRange } from '../time-range.js'

/** The time that the candles of a series cover. */
export interface CandleSpan {
  /** Open time of the first candle, ms UTC. */
  readonly startTime: number
  /** When the candle after the last one would open, ms UTC. */
  readonly endTime: number
}

/** How much of a requested range a series has. All times are ms UTC. Candles that are missing between two candles are gaps, not part of it. */
export interface Coverage {
  /** The length of the candles that are counted: of a resampled series the new one. */
  readonly interval: string
  /** The range as it was requested; an end that was not named is undefined. */
  readonly requested: { readonly from: number | undefined; readonly to: number | undefined }
  /** Open time of the first candle in the range. */
  readonly first: number | undefined
  /** Open time of the last candle in the range. */
  readonly last: number | undefined
  /** Closed candles of the range that are not there before the first one; none before the first one that is known of the series. */
  readonly shortAtStart: number
  /** Closed candles of the range that are not there after the last one; all of them in a range without a candle. */
  readonly shortAtEnd: number
  /** When the first of these would open; undefined when none is missing there. */
  readonly shortFrom: number | undefined
}

/** What the candles of a series are compared with. */
export interface CoverageInput {
  readonly interval: string
  /** When the candles open. */
  readonly grid: CandleGrid
  readonly range: RequestedRange
  /** The time that the candles in the range cover, of a resampled series those that it is made from; undefined without one. */
  readonly span: CandleSpan | undefined
  /** When the first candle opens that is known of the series, in the range or before it, ms UTC. */
  readonly seriesStart?: number | undefined
  /** Of a resampled series: candles that open earlier than this are whole only if all of them is there, ms UTC. Default: the first one. */
  readonly coveredFrom?: number | undefined
  /** Whether candles at both ends that are covered in part only are there. */
  readonly partial?: boolean | undefined
}

/**
 * Counts the closed candles of a range that a series lacks at its start and its end. A candle is in the range if it opens in it, and
 * closed if it ends by the present. An end that was not named is never short, and before the first candle of the series nothing is.
 */
export function measureCoverage(input: CoverageInput): Coverage {
  const { interval, grid, range, span, seriesStart = span?.startTime ?? -Infinity } = input
  const { from, to } = range.named
  const start = Math.max(from ?? -Infinity, seriesStart)
  const end = to === undefined ? -Infinity : Math.min(grid.next(to), range.now)
  const there = findThere(input)
  const missingFrom = there?.endTime ?? start
  const shortAtEnd = Number.isFinite(missingFrom) ? grid.count(missingFrom, end) : 0
  const hasEarlier = span !== undefined && seriesStart < span.startTime
  return {
    interval,
    requested: { from, to },
    first: there?.startTime,
    last: there && grid.start(there.endTime - 1),
    shortAtStart: there !== undefined && from !== undefined && hasEarlier ? grid.count(start, there.startTime) : 0,
    shortAtEnd,
    shortFrom: shortAtEnd === 0 ? undefined : grid.next(missingFrom),
  }
}

/** From the first to the last candle of the range: whole ones, unless partial ones are wanted. Undefined without one. */
function findThere({ grid, range, span, coveredFrom, partial }: CoverageInput): CandleSpan | undefined {
  if (span === undefined) return undefined
  const isCut = !partial && grid.start(span.startTime) < (coveredFrom ?? span.startTime)
  const first = isCut ? grid.next(span.startTime) : grid.start(span.startTime)
  const { from } = range.named
  const startTime = from === undefined ? first : Math.max(first, grid.next(from))
  const endTime = partial ? grid.next(span.endTime) : grid.start(span.endTime)
  return startTime < endTime ? { startTime, endTime } : undefined
}
