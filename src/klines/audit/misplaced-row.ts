import type { KlineBatch } from '../batch/kline-batch.js'
import { mayBeOffGrid } from '../candle-times.js'
import { nextOpenTime } from '../intervals.js'
import type { Series } from '../series.js'

/** A stretch of candles off the grid is close to the candle before it and to the one after it. */
const ENDS_OF_STRETCH = 2

/**
 * Describes the first row of a decoded window that shows that the window belongs to a finer series, where the exchange itself may
 * have candles off the grid, so that the codec accepts them: see `findFinerRow`. Undefined when there is none.
 */
export function findMisplacedRow(batch: KlineBatch): string | undefined {
  const row = findFinerRow(batch)
  if (row === undefined) return undefined
  const opens = new Date(batch.openTime(row)).toISOString()
  const { interval } = batch.series
  return `row ${row}, which opens ${opens}, is less than ${interval} after the one before it, and so are most rows`
}

/**
 * The first row that opens before the one before it should end, if most rows do: the window belongs to a finer series. Looks at
 * the time in which the exchange itself may have candles off the grid. Undefined when there is none.
 */
export function findFinerRow(batch: KlineBatch): number | undefined {
  // The batch of a window has an interval of the service.
  const { interval } = batch.series as Series
  const closeRows: number[] = []
  let row = 1
  for (; row < batch.length && mayBeOffGrid(batch.openTime(row)); row++) {
    if (batch.openTime(row) < nextOpenTime(interval, batch.openTime(row - 1))) closeRows.push(row)
  }
  return closeRows.length > ENDS_OF_STRETCH && 2 * closeRows.length >= row ? closeRows[0] : undefined
}
