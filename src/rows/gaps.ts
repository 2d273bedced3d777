import { countLengths, type Interval, LENGTHS, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import type { WindowSpan } from '../candles/windows.js'
import type { CandleGrid } from './candle-grid.js'

/** Candles that are missing in windows which are there: an outage of the exchange, or lost data. Times in ms UTC. */
export interface Gap {
  /** When the first missing candle would open. */
  readonly startTime: number
  /** When the next candle opens, or the window ends. */
  readonly endTime: number
  readonly missing: number
}

/** The gaps between the open times of a candle and the next one, ms UTC. Only within the spans all candles are known. */
export function findGaps(
  interval: Interval,
  grid: CandleGrid,
  spans: readonly WindowSpan[],
  openTime: number,
  laterOpenTime: number,
): Gap[] {
  const next = nextOpenTime(interval, openTime)
  if (laterOpenTime <= next) return []
  return spans.flatMap(span => {
    const startTime = span.startTime <= next ? next : grid.next(span.startTime)
    const endTime = span.endTime >= laterOpenTime ? laterOpenTime : grid.next(span.endTime)
    const missing = endTime > startTime ? countLengths(LENGTHS[interval], startTime, endTime) : 0
    return missing > 0 ? [{ startTime, endTime, missing }] : []
  })
}

/** Totals over the candles of a series. Times are open times, ms UTC. */
export interface SeriesTotals {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: number
  /** Candles missing in all gaps. */
  readonly missing: number
}

/** Counts the candles of a series and the gaps between them, by the distance of neighbours: a grid of any anchor works. */
export class GapCounter {
  readonly totals = {
    ...{ candles: 0, gaps: 0, missing: 0 },
    firstOpenTime: undefined as number | undefined,
    lastOpenTime: undefined as number | undefined,
  }
  /** Candles missing in the largest gap. */
  largestGap = 0

  constructor(private readonly series: Series) {}

  /** Adds the next batch, in order of time. */
  add(batch: { readonly length: number; openTime(row: number): number }): void {
    const { length } = batch
    if (length === 0) return
    const [first, last] = [batch.openTime(0), batch.openTime(length - 1)]
    this.totals.candles += length
    this.goTo(first)
    // On the grid, as many candles as fit in between have no gap.
    const isWhole = countLengths(LENGTHS[this.series.interval], first, last) === length - 1
    if (isWhole && !mayBeOffGrid(first)) this.totals.lastOpenTime = last
    else for (let row = 1; row < length; row++) this.goTo(batch.openTime(row))
  }

  /** The same for candles that were counted before; their `largestGap` is not known. */
  addCounted(first: number, last: number, { candles, gaps, missing }: Partial<SeriesTotals>): void {
    this.goTo(first)
    this.totals.lastOpenTime = last
    this.totals.candles += candles ?? 0
    this.totals.gaps += gaps ?? 0
    this.totals.missing += missing ?? 0
  }

  private goTo(openTime: number): void {
    const { totals, series } = this
    const missing = countLengths(LENGTHS[series.interval], totals.lastOpenTime ?? openTime, openTime) - 1
    if (missing > 0) {
      totals.gaps++
      totals.missing += missing
      this.largestGap = Math.max(this.largestGap, missing)
    }
    totals.firstOpenTime ??= openTime
    totals.lastOpenTime = openTime
  }
}
