import type { Interval } from '../intervals.js'
import { groupCandles } from '../kernel/candle-compare.js'
import type { CandleTable, CandleTables } from '../kernel/candle-table.js'
import { isMultiple, toTarget } from '../resample/target-interval.js'
import type { SymbolName } from '../symbols.js'
import { CheckedPair, CheckedSeries, type SlicedSeries } from './checked-series.js'
import type { Difference } from './compare-series.js'
import { overlaps } from './time-spans.js'

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

/**
 * Compares every candle that a finer series of the same symbol covers with the exact aggregate of its finer candles, in all
 * columns, for every pair of intervals of which one fits into the other; slice by slice of time, so that a series need not be in
 * memory whole. Candles that the exchange itself has off the grid do not add up to others, nor others to them: they are not
 * compared. All tables belong to one kernel.
 */
export class CrossChecker {
  private readonly all: readonly CheckedSeries[]
  private readonly pairs: readonly CheckedPair[]
  private fromTime = -Infinity

  /** The series of one symbol, with their first candles. `tables`: of the same kernel; those of the last symbol serve again. */
  constructor(loaded: readonly SlicedSeries[], tables: CandleTables) {
    this.all = loaded.map(series => new CheckedSeries(series))
    const shortestFirst = this.all.toSorted((a, b) => a.approximateLength - b.approximateLength)
    this.pairs = this.all.flatMap(finer => {
      const pairs: CheckedPair[] = []
      for (const coarser of shortestFirst) {
        if (!isMultiple(toTarget(coarser.loaded.series.interval), finer.loaded.series.interval)) continue
        // Sums of sums are the same sums: an aggregate serves the next longer interval, so few candles are added up twice.
        const base = pairs.findLast(pair => pair.coarser.fitsInto(coarser))
        const begun = tables.empty(`${finer.loaded.series.interval} in ${coarser.loaded.series.interval}`)
        // Within a slice, memory that is allocated is freed again.
        begun.reserve(1)
        pairs.push(new CheckedPair(finer, coarser, base, begun))
      }
      return pairs
    })
  }

  /**
   * Compares the candles up to `toTime` (ms UTC), and removes from the tables what no later slice needs. The tables have every
   * candle that opens before `toTime`, and the next one.
   */
  check(toTime: number): void {
    const { all, fromTime } = this
    const comparedTo = Math.min(...all.map(series => series.comparedTo))
    const spans = new Map(all.map(series => [series, series.findSpans(comparedTo, toTime)]))
    for (const finer of all) {
      const { table } = finer.loaded
      const [start, end] = [table.rowFrom(fromTime), table.rowFrom(toTime)]
      table.kernel.withScratch(() => {
        const aggregates = new Map<CheckedPair, CandleTable>()
        for (const pair of this.pairs.filter(pair => pair.finer === finer)) {
          const { coarser, base, begun } = pair
          const parts = base && aggregates.get(base)
          const aggregate = parts
            ? groupCandles(parts, coarser.grid, begun)
            : groupCandles(table, coarser.grid, begun, start, end)
          takeUnfinished(aggregate, begun, coarser.grid.start(toTime))
          aggregates.set(pair, aggregate)
          pair.compare(aggregate, overlaps(spans.get(finer) ?? [], spans.get(coarser) ?? []))
        }
      })
    }
    for (const series of all) series.forget(toTime === Infinity ? toTime : series.grid.start(toTime))
    this.fromTime = toTime
  }

  /** The findings of all slices. */
  get result(): CrossCheck {
    const { all, pairs } = this
    return {
      pairs: pairs.map(({ finer, coarser, comparisons }) => {
        const { symbol, interval } = coarser.loaded.series
        return { symbol, interval, finer: finer.loaded.series.interval, comparisons }
      }),
      differences: pairs.flatMap(({ differences }) => differences.flat()),
      unverified: new Map(all.map(({ loaded, unverified }) => [loaded.series.interval, unverified])),
    }
  }
}

/** Moves the last candle of an aggregate to `begun` if it opens at or after `time` (ms UTC): it is not complete. */
function takeUnfinished(aggregate: CandleTable, begun: CandleTable, time: number): void {
  begun.clear()
  const last = aggregate.length - 1
  if (last < 0 || !(aggregate.openTime(last) >= time)) return
  begun.addCopy(aggregate, last)
  aggregate.length = last
}
