import { type Interval, nextOpenTime } from '../intervals.js'
import { groupCandles, unverifiedCandles } from '../kernel/candle-compare.js'
import type { CandleTable } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import { isMultiple, toTarget } from '../resample/target-interval.js'
import type { SymbolName } from '../symbols.js'
import { compareSeries, type Difference, type LoadedSeries, overlaps } from './compare-series.js'
import { findOnGridSpans } from './off-grid.js'

/** How many candles of one interval were compared with those of a finer one. */
export interface IntervalPair {
  readonly symbol: SymbolName
  readonly interval: Interval
  readonly finer: Interval
  readonly comparisons: number
}

/** The result of cross-checking the intervals of one symbol. */
export interface CrossCheck {
  readonly pairs: readonly IntervalPair[]
  readonly differences: readonly Difference[]
  /** How many candles of each series were compared with no finer series, so that nothing confirms or refutes them. */
  readonly unverified: ReadonlyMap<Interval, number>
}

/** The candles of a finer series, grouped to the candles of a coarser one. */
interface Aggregate {
  readonly coarser: LoadedSeries
  readonly grid: CandleGrid
  readonly table: CandleTable
}

/**
 * Compares every candle that a finer series of the same symbol covers with the exact aggregate of its finer candles, in all
 * columns, for every pair of intervals of which one fits into the other. Candles that the exchange itself has off the grid do not
 * add up to others, nor others to them: they are not compared. All tables belong to one kernel.
 */
export function crossCheck(all: readonly LoadedSeries[]): CrossCheck {
  const loaded = all.map(withoutOffGrid)
  const pairs: IntervalPair[] = []
  const differences: Difference[] = []
  const shortestFirst = loaded.toSorted((a, b) => approximateLength(a) - approximateLength(b))
  for (const finer of loaded) {
    finer.table.kernel.withScratch(() => {
      const aggregates: Aggregate[] = []
      for (const coarser of shortestFirst) {
        const { symbol, interval } = coarser.series
        if (!isMultiple(toTarget(interval), finer.series.interval)) continue
        const grid = buildSeriesGrid(coarser.series, firstOpenTime(coarser))
        // Sums of sums are the same sums: an aggregate serves the next longer interval, so few candles are added up twice.
        const base = aggregates.findLast(aggregate => canBuildFrom(aggregate, coarser))
        const table = groupCandles(base?.table ?? finer.table, grid)
        aggregates.push({ coarser, grid, table })
        const comparison = compareSeries(finer, coarser, table, grid)
        pairs.push({ symbol, interval, finer: finer.series.interval, comparisons: comparison.comparisons })
        differences.push(...comparison.differences)
      }
    })
  }
  const unverified = new Map(loaded.map(({ series, table }) => [series.interval, unverifiedCandles(table)]))
  return { pairs, differences, unverified }
}

/** The series without the time in which its candles are off the grid. */
function withoutOffGrid(loaded: LoadedSeries): LoadedSeries {
  const { series, table, before, spans } = loaded
  return { ...loaded, spans: overlaps(spans, findOnGridSpans(series, table, before)) }
}

/** The first candle sets the grid of a 3d series. */
function firstOpenTime({ table }: LoadedSeries): number | undefined {
  return table.length > 0 ? table.openTime(0) : undefined
}

/** Whether candles of `target` consist of whole candles of the aggregate: the intervals fit, and so do the grids. */
function canBuildFrom({ coarser, grid }: Aggregate, target: LoadedSeries): boolean {
  const { interval } = target.series
  if (!isMultiple(toTarget(interval), coarser.series.interval)) return false
  return interval !== '3d' || grid.offset(firstOpenTime(target) ?? 0) === 0
}

/** Length in ms of a candle that opens in January 1970: enough to sort intervals. */
function approximateLength({ series }: LoadedSeries): number {
  return nextOpenTime(series.interval, 0)
}
