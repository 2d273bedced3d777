import { type Interval, nextOpenTime } from '../intervals.js'
import { groupCandles, unverifiedCandles } from '../kernel/candle-compare.js'
import type { CandleTable } from '../kernel/candle-table.js'
import { CandleGrid, isMultiple, toTarget } from '../resample/target-interval.js'
import type { SymbolName } from '../symbols.js'
import { compareSeries, type Difference, type LoadedSeries } from './compare-series.js'

/** How often one interval was compared with another. */
export interface IntervalPair {
  readonly symbol: SymbolName
  readonly interval: Interval
  readonly finer: Interval
  readonly comparisons: number
}

/** What an audit of one symbol found. */
export interface CrossCheck {
  readonly pairs: readonly IntervalPair[]
  readonly differences: readonly Difference[]
  /** Candles of each series that no finer series covers: not known to be right, and not known to be wrong. */
  readonly unverified: ReadonlyMap<Interval, number>
}

/** Candles made of a finer series. */
interface Aggregate {
  readonly coarser: LoadedSeries
  readonly grid: CandleGrid
  readonly table: CandleTable
}

/**
 * Compares every coarser candle that a finer series of the same symbol covers with the exact aggregate of its finer candles,
 * in all columns, for every pair of intervals of which one fits into the other. All tables are of one kernel.
 */
export function crossCheck(held: readonly LoadedSeries[]): CrossCheck {
  const pairs: IntervalPair[] = []
  const differences: Difference[] = []
  const shortestFirst = held.toSorted((a, b) => approximateLength(a) - approximateLength(b))
  for (const finer of held) {
    finer.table.kernel.withScratch(() => {
      const aggregates: Aggregate[] = []
      for (const coarser of shortestFirst) {
        const { symbol, interval } = coarser.series
        if (!isMultiple(toTarget(interval), finer.series.interval)) continue
        const grid = gridOf(coarser)
        // Sums of sums are the same sums: what is made for one interval serves the next, and few candles are added up twice.
        const base = aggregates.findLast(one => canBuildFrom(one, coarser))
        const table = groupCandles(base?.table ?? finer.table, grid)
        aggregates.push({ coarser, grid, table })
        const comparison = compareSeries(finer, coarser, table, grid)
        pairs.push({ symbol, interval, finer: finer.series.interval, comparisons: comparison.comparisons })
        differences.push(...comparison.differences)
      }
    })
  }
  return {
    pairs,
    differences,
    unverified: new Map(held.map(one => [one.series.interval, unverifiedCandles(one.table)])),
  }
}

/** A 3d grid is taken from the first candle (observed.md, "Grids"). */
function gridOf({ series, table }: LoadedSeries): CandleGrid {
  const anchor = table.length > 0 ? table.openTime(0) : undefined
  return new CandleGrid({ ...toTarget(series.interval), anchor }, series.symbol)
}

/** Whether a series' candles are whole ones of what is made: the intervals fit, and so does the grid that was found. */
function canBuildFrom(
  { coarser: { series }, grid }: Aggregate,
  { series: { interval }, table }: LoadedSeries,
): boolean {
  if (!isMultiple(toTarget(interval), series.interval)) return false
  const anchor = table.length > 0 ? table.openTime(0) : 0
  return interval !== '3d' || grid.start(anchor) === anchor
}

/** Of a candle from 1970 on, ms: enough to put intervals in order. */
function approximateLength({ series }: LoadedSeries): number {
  return nextOpenTime(series.interval, 0)
}
