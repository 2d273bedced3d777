import { Comparer, type Difference, type HeldSeries } from './comparer.js'
import { type Interval, nextOpenTime } from './intervals.js'
import type { SymbolName } from './symbols.js'
import { isMultiple, targetOf } from './target-interval.js'

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

/**
 * Compares every coarser candle that a finer series of the same symbol covers with the exact aggregate of its finer candles,
 * in all columns, for every pair of intervals of which one fits into the other.
 */
export function auditSymbol(held: readonly HeldSeries[]): Audit {
  const compared = new Map(held.map(one => [one.series.interval, new Uint8Array(one.table.length)]))
  const pairs: AuditPair[] = []
  const differences: Difference[] = []
  const shortestFirst = held.toSorted((a, b) => lengthOf(a) - lengthOf(b))
  for (const finer of held) {
    const comparers: Comparer[] = []
    const roots: Comparer[] = []
    for (const coarser of shortestFirst) {
      if (!isMultiple(targetOf(coarser.series.interval), finer.series.interval)) continue
      const comparer = new Comparer(finer, coarser, compared.get(coarser.series.interval) as Uint8Array)
      // Sums of sums are the same sums: what is made for one interval serves the next, and few candles are added up twice.
      const base = comparers.findLast(one => comparer.canBeMadeOf(one))
      if (base) base.feeds.push(comparer)
      else roots.push(comparer)
      comparers.push(comparer)
    }
    const { table } = finer
    for (let row = 0; row < table.length; row++) for (const root of roots) root.addRow(row)
    for (const comparer of comparers) comparer.end()
    for (const { coarser, comparisons, differences: found } of comparers) {
      const { symbol, interval } = coarser.series
      pairs.push({ symbol, interval, finer: finer.series.interval, comparisons })
      differences.push(...found)
    }
  }
  const uncovered = [...compared].map(
    ([interval, seen]) => [interval, seen.reduce((sum, was) => sum + 1 - was, 0)] as const,
  )
  return { pairs, differences, uncovered: new Map(uncovered) }
}

/** Of a candle from 1970 on, ms: enough to put intervals in order. */
function lengthOf({ series }: HeldSeries): number {
  return nextOpenTime(series.interval, 0)
}
