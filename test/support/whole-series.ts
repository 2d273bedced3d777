import type { SlicedSeries } from '../../src/klines/audit/checked-series.js'
import { type CrossCheck, CrossChecker } from '../../src/klines/audit/cross-check.js'
import { CandleTables } from '../../src/klines/kernel/candle-table.js'
import { Kernel } from '../../src/klines/kernel/kernel.js'

/** A series that is in memory whole, with the time in which all its candles are known. */
export type WholeSeries = Omit<SlicedSeries, 'firstOpenTime'>

/** Cross-checks series of one symbol, which are in memory whole, in one slice. Empties their tables. */
export function crossCheck(all: readonly WholeSeries[]): CrossCheck {
  const checker = new CrossChecker(
    all.map(series => ({
      ...series,
      firstOpenTime: series.table.length > 0 ? series.table.openTime(0) : undefined,
    })),
    new CandleTables(all[0]?.table.kernel ?? new Kernel()),
  )
  checker.check(Infinity)
  return checker.result
}
