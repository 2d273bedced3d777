import type { KlineBatch } from '../batch/kline-batch.js'
import { nextOpenTime } from '../intervals.js'
import { buildSeriesGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'

/**
 * Describes the first row of a decoded window that shows that the window belongs to another series: a candle off the grid, or
 * one that lasts longer than its interval. The first candle sets a 3d grid. Undefined when there is none.
 */
export function findMisplacedRow(batch: KlineBatch): string | undefined {
  // The batch of a window has an interval of the service.
  const series = batch.series as Series
  const grid = buildSeriesGrid(series, batch.length > 0 ? batch.openTime(0) : undefined)
  for (let row = 0; row < batch.length; row++) {
    const openTime = batch.openTime(row)
    const position = `row ${row}, which opens ${new Date(openTime).toISOString()}`
    if (grid.offset(openTime) !== 0) return `${position}, is not on the grid of its series`
    if (batch.closeTime(row) >= nextOpenTime(series.interval, openTime)) {
      return `${position}, closes after the next candle opens`
    }
  }
  return undefined
}
