import type { KlineBatch } from '../batch/kline-batch.js'
import { FIRST_MONDAY, type Interval, nextOpenTime } from '../intervals.js'

/**
 * Where in its grid an open time lies, ms: 0 when it is on the grid that its interval has from the epoch (1w: from a Monday,
 * 1M: on the first of a month). A 3d grid is each symbol's own: the offset is the same for all its candles (observed.md,
 * "Grids").
 */
export function gridOffset(interval: Interval, openTime: number): number {
  if (interval === '1M') {
    const date = new Date(openTime)
    return openTime - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  }
  const length = nextOpenTime(interval, 0)
  const offset = (openTime - (interval === '1w' ? FIRST_MONDAY : 0)) % length
  // Before 1970 the remainder is negative.
  return (offset + length) % length
}

/**
 * What says that a sound window is not of its series, in words: a candle off the grid, or one that lasts longer than its
 * interval. A 3d grid is taken from the first candle. Undefined when nothing says so.
 */
export function findMisplacedRow(batch: KlineBatch): string | undefined {
  // A batch of a window is of an interval of the service.
  const interval = batch.series.interval as Interval
  const expected = interval === '3d' && batch.length > 0 ? gridOffset(interval, batch.openTime(0)) : 0
  for (let row = 0; row < batch.length; row++) {
    const openTime = batch.openTime(row)
    const at = `row ${row}, which opens ${new Date(openTime).toISOString()}`
    if (gridOffset(interval, openTime) !== expected) return `${at}, is not on the grid of its series`
    if (batch.closeTime(row) >= nextOpenTime(interval, openTime)) return `${at}, closes after the next candle opens`
  }
  return undefined
}
