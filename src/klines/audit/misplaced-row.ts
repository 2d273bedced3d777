import type { KlineBatch } from '../batch/kline-batch.js'
import { nextOpenTime } from '../intervals.js'
import { buildSeriesGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import { mayBeOffGrid } from './off-grid.js'

/** A stretch of candles off the grid is close to the candle before it and to the one after it. */
const ENDS_OF_STRETCH = 2

/**
 * Describes the first row of a decoded window that shows that the window belongs to another series: a candle off the grid, or
 * one that lasts longer than its interval. The first candle sets a 3d grid. Where the exchange itself may have candles off the
 * grid, `findFinerRow` decides instead. Undefined when there is none.
 */
export function findMisplacedRow(batch: KlineBatch): string | undefined {
  // The batch of a window has an interval of the service.
  const series = batch.series as Series
  const grid = buildSeriesGrid(series, batch.length > 0 ? batch.openTime(0) : undefined)
  const describe = (row: number) => `row ${row}, which opens ${new Date(batch.openTime(row)).toISOString()}`
  for (let row = 0; row < batch.length; row++) {
    const openTime = batch.openTime(row)
    if (grid.offset(openTime) !== 0 && !mayBeOffGrid(openTime)) {
      return `${describe(row)}, is not on the grid of its series`
    }
    if (batch.closeTime(row) >= nextOpenTime(series.interval, openTime)) {
      return `${describe(row)}, closes after the next candle opens`
    }
  }
  const row = findFinerRow(batch)
  if (row === undefined) return undefined
  return `${describe(row)}, is less than ${series.interval} after the one before it, and so are most rows`
}

/**
 * The first row that opens before the one before it should end, if most rows do: the window belongs to a finer series. Looks at
 * the time in which the exchange itself may have candles off the grid. Undefined when there is none.
 */
export function findFinerRow(batch: KlineBatch): number | undefined {
  const { interval } = batch.series as Series
  const closeRows: number[] = []
  let row = 1
  for (; row < batch.length && mayBeOffGrid(batch.openTime(row)); row++) {
    if (batch.openTime(row) < nextOpenTime(interval, batch.openTime(row - 1))) closeRows.push(row)
  }
  return closeRows.length > ENDS_OF_STRETCH && 2 * closeRows.length >= row ? closeRows[0] : undefined
}
