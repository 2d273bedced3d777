import { type Interval, nextOpenTime, stepsBetween } from '../candles/intervals.js'
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

/**
 * The gaps between a candle and the next one that was read (open times, ms UTC). Time outside of the spans, whose candles are all
 * loaded, is no gap: nothing is known about it.
 */
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
    const startTime = span.startTime <= next ? next : firstOpenTime(grid, span.startTime)
    const endTime = span.endTime >= laterOpenTime ? laterOpenTime : firstOpenTime(grid, span.endTime)
    const missing = endTime > startTime ? stepsBetween(interval, startTime, endTime) : 0
    return missing > 0 ? [{ startTime, endTime, missing }] : []
  })
}

/** When the first candle that opens at or after `time` opens. */
function firstOpenTime(grid: CandleGrid, time: number): number {
  const start = grid.start(time)
  return start === time ? time : grid.end(start)
}
