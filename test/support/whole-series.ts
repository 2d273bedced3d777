import type { Series } from '../../src/candles/series.js'
import type { TimeRange } from '../../src/candles/time-range.js'
import type { WindowSpan } from '../../src/candles/windows.js'
import { buildSeriesGrid } from '../../src/rows/candle-grid.js'
import type { CandleTable } from '../../src/rows/candle-table.js'
import { type CrossCheck, CrossChecker } from '../../src/verify/cross-check.js'

export const ALL_TIME: TimeRange = { fromTime: -Infinity, toTime: Infinity }

/** A series that is in memory whole, with the time in which all its candles are known. */
export interface WholeSeries {
  readonly series: Series
  readonly table: CandleTable
  readonly spans: readonly WindowSpan[]
}

/** Compares series of one symbol, which are in memory whole, in one slice. Empties their tables. */
export function crossCheck(all: readonly WholeSeries[]): CrossCheck & { unverified: Map<string, number> } {
  const readers = all.map(one => {
    const grid = buildSeriesGrid(one.series, one.table.length > 0 ? one.table.openTime(0) : undefined)
    return { ...one, isNamed: true, grid }
  })
  const checker = new CrossChecker(readers, ALL_TIME)
  checker.check(Infinity)
  const unverified = new Map(readers.map(one => [one.series.interval as string, checker.unverified.get(one) ?? 0]))
  return { ...checker.result, unverified }
}
