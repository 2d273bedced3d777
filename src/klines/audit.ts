import { groupCandles, uncoveredCandles } from './candle-audit.js'
import type { CandleTable } from './candle-table.js'
import { compareSeries, type Difference, type HeldSeries } from './comparison.js'
import { type Interval, nextOpenTime } from './intervals.js'
import type { SymbolName } from './symbols.js'
import { Buckets, isMultiple, targetOf } from './target-interval.js'

/** How often one interval was compared with another. */
export interface AuditPair {
  readonly symbol: SymbolName
  readonly interval: Interval
  readonly finer: Interval
  readonly comparisons: number
}

/** What an audit of one symbol found. */
export interface Audit {
  readonly pairs: readonly AuditPair[]
  readonly differences: readonly Difference[]
  /** Candles of each series that no finer series covers: not known to be right, and not known to be wrong. */
  readonly uncovered: ReadonlyMap<Interval, number>
}

/** Candles made of a finer series. */
interface Made {
  readonly coarser: HeldSeries
  readonly buckets: Buckets
  readonly table: CandleTable
}

/**
 * Compares every coarser candle that a finer series of the same symbol covers with the exact aggregate of its finer candles,
 * in all columns, for every pair of intervals of which one fits into the other. All tables are of one kernel.
 */
export function auditSymbol(held: readonly HeldSeries[]): Audit {
  const pairs: AuditPair[] = []
  const differences: Difference[] = []
  const shortestFirst = held.toSorted((a, b) => lengthOf(a) - lengthOf(b))
  for (const finer of held) {
    finer.table.kernel.briefly(() => {
      const made: Made[] = []
      for (const coarser of shortestFirst) {
        const { symbol, interval } = coarser.series
        if (!isMultiple(targetOf(interval), finer.series.interval)) continue
        const buckets = bucketsOf(coarser)
        // Sums of sums are the same sums: what is made for one interval serves the next, and few candles are added up twice.
        const base = made.findLast(one => canBeMadeOf(one, coarser))
        const table = groupCandles(base?.table ?? finer.table, buckets)
        made.push({ coarser, buckets, table })
        const comparison = compareSeries(finer, coarser, table, buckets)
        pairs.push({ symbol, interval, finer: finer.series.interval, comparisons: comparison.comparisons })
        differences.push(...comparison.differences)
      }
    })
  }
  return { pairs, differences, uncovered: new Map(held.map(one => [one.series.interval, uncoveredCandles(one.table)])) }
}

/** A 3d grid is taken from the first candle (observed.md, "Grids"). */
function bucketsOf({ series, table }: HeldSeries): Buckets {
  const anchor = table.length > 0 ? table.openTime(0) : undefined
  return new Buckets({ ...targetOf(series.interval), anchor }, series.symbol)
}

/** Whether a series' candles are whole ones of what is made: the intervals fit, and so does the grid that was found. */
function canBeMadeOf({ coarser: { series }, buckets }: Made, { series: { interval }, table }: HeldSeries): boolean {
  if (!isMultiple(targetOf(interval), series.interval)) return false
  const anchor = table.length > 0 ? table.openTime(0) : 0
  return interval !== '3d' || buckets.start(anchor) === anchor
}

/** Of a candle from 1970 on, ms: enough to put intervals in order. */
function lengthOf({ series }: HeldSeries): number {
  return nextOpenTime(series.interval, 0)
}
