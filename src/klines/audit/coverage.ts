import type { CandleGrid } from '../resample/candle-grid.js'
import type { RequestedRange } from '../time-range.js'

/** From when on a symbol was traded. */
export interface Listing {
  /** When the earliest candle opened that is known of the symbol at any interval, ms UTC; undefined without one. */
  readonly earliest: number | undefined
  /** Whether it was not traded before that, as far as the source says. */
  readonly isFirst: boolean
}

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
  /** Closed candles of the range that are not there before the first one: since the listing, or since the earliest candle that is known. */
  readonly shortAtStart: number
  /** Closed candles of the range that are not there after the last one; all of them in a range without a candle. */
  readonly shortAtEnd: number
  /** Since when the symbol is traded. `unknown` where nothing tells: then more candles may be missing at a start that was named. */
  readonly listed: number | 'unknown'
}

/** What the candles of a series are compared with. */
export interface CoverageInput {
  readonly interval: string
  /** When the candles open. */
  readonly grid: CandleGrid
  readonly range: RequestedRange
  /** The time that the candles in the range cover, of a resampled series those that it is made from; undefined without one. */
  readonly span: CandleSpan | undefined
  readonly listing: Listing
  /** Until when the source surely has no other candles than those in the range, ms UTC: what is missing before that never was. */
  readonly knownUntil?: number | undefined
  /** Whether candles at both ends that are covered in part only are there. */
  readonly partial?: boolean | undefined
}

/**
 * Counts the closed candles of a range that a series lacks at its start and its end. A candle is in the range if it opens in it, and
 * closed if it ends by the present. An end that was not named is never short, and before the listing nothing is.
 */
export function measureCoverage({ interval, grid, range, span, listing, partial, ...rest }: CoverageInput): Coverage {
  const { from, to } = range.named
  const { earliest, isFirst } = listing
  const { knownUntil = -Infinity } = rest
  const requested = { from, to }
  const listed = isFirst && earliest !== undefined ? earliest : ('unknown' as const)
  const known = earliest === undefined ? undefined : grid.start(earliest)
  const end = to === undefined ? -Infinity : Math.min(grid.next(to), range.now)
  if (span === undefined) {
    const start = Math.max(from ?? -Infinity, known ?? -Infinity, knownUntil)
    const shortAtEnd = Number.isFinite(start) ? grid.count(start, end) : 0
    return { interval, requested, first: undefined, last: undefined, shortAtStart: 0, shortAtEnd, listed }
  }
  // The first candle of a symbol is whole, wherever on the grid trading began.
  const isCut = !partial && (earliest === undefined || span.startTime > earliest)
  const first = isCut ? grid.next(span.startTime) : grid.start(span.startTime)
  const covered = partial ? grid.next(span.endTime) : grid.start(span.endTime)
  return {
    interval,
    requested,
    first,
    last: grid.start(covered - 1),
    shortAtStart: from === undefined || known === undefined ? 0 : grid.count(Math.max(from, known), first),
    shortAtEnd: grid.count(Math.max(covered, first, knownUntil), end),
    listed,
  }
}
