import { countLengths, type Interval, LENGTHS, nextOpenTime } from '../candles/intervals.js'
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
    const { totals, series } = this
    let expected = totals.lastOpenTime === undefined ? undefined : nextOpenTime(series.interval, totals.lastOpenTime)
    for (let row = 0; row < batch.length; row++) {
      const openTime = batch.openTime(row)
      if (openTime !== expected) this.addGap(openTime)
      totals.lastOpenTime = openTime
      expected = nextOpenTime(series.interval, openTime)
    }
    totals.candles += batch.length
  }

  /** Counts what is missing before a candle that does not open when the one before it ends. */
  private addGap(openTime: number): void {
    const { totals, series } = this
    totals.firstOpenTime ??= openTime
    const missing = countLengths(LENGTHS[series.interval], totals.lastOpenTime ?? openTime, openTime) - 1
    if (missing <= 0) return
    totals.gaps++
    totals.missing += missing
    this.largestGap = Math.max(this.largestGap, missing)
  }
}
