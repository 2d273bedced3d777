import { approximateLength } from '../candles/intervals.js'
import type { TimeRange } from '../candles/time-range.js'
import type { CandleGrid } from '../rows/candle-grid.js'
import { type CandleTable, groupCandles } from '../rows/candle-table.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import { compareCandles, countUnverified, type Difference, type SeriesPair } from './compare.js'
import type { SeriesReader } from './series-reader.js'
import { overlaps } from './spans.js'

type IntervalPair = SeriesPair & { readonly comparisons: number }

export type CrossCheck = CrossChecker['result']

/** A series whose table has a slice of time: the candles that were read and are still needed, in order. */
type SlicedSeries = Pick<SeriesReader, 'series' | 'isNamed' | 'table' | 'grid' | 'spans'>

interface Pair {
  readonly finer: SlicedSeries
  readonly coarser: SlicedSeries
  /** Whose sums to add up in place of the finer candles: sums of sums are the same sums. */
  readonly base: Pair | undefined
  comparisons: number
  readonly differences: Difference[]
}

/**
 * Compares every candle of the named series that a finer series of the same symbol covers with the exact sum of its finer candles, in all
 * columns, for every pair of intervals of which one fits into the other, slice by slice of time. Candles that the exchange itself has off
 * the grid do not add up: they are not compared. All tables belong to one kernel.
 */
export class CrossChecker {
  private readonly pairs: readonly Pair[]
  /** The end of the last slice. */
  private comparedTo = -Infinity
  /** How many candles of a series were compared with no finer ones. */
  readonly unverified = new Map<SlicedSeries, number>()

  /** `all`: the series of one symbol, with their first candles. `range`: the candles that are compared. */
  constructor(
    private readonly all: readonly SlicedSeries[],
    private readonly range: TimeRange,
  ) {
    const isPart = (finer: SlicedSeries, coarser: SlicedSeries) =>
      isMultiple(parseTargetInterval(coarser.series.interval), finer.series.interval)
    const length = ({ series }: SlicedSeries) => approximateLength(series.interval)
    const shortestFirst = all.filter(({ isNamed }) => isNamed).toSorted((a, b) => length(a) - length(b))
    this.pairs = all.flatMap(finer => {
      const pairs: Pair[] = []
      for (const coarser of shortestFirst.filter(one => isPart(finer, one))) {
        // So few candles are added up twice.
        const base = pairs.findLast(pair => isPart(pair.coarser, coarser))
        pairs.push({ finer, coarser, base, comparisons: 0, differences: [] })
      }
      return pairs
    })
  }

  /** Compares the candles up to `toTime`: they are in the tables, with the next one. Removes what no later slice needs. */
  check(toTime: number): void {
    for (const finer of this.all) {
      const { table } = finer
      table.kernel.withScratch(() => {
        const sums = new Map<Pair, CandleTable>()
        for (const pair of this.pairs.filter(pair => pair.finer === finer)) {
          const base = pair.base && sums.get(pair.base)
          const grouped = groupCandles(base ?? table, pair.coarser.grid, base ? base.length : table.rowFrom(toTime))
          sums.set(pair, grouped)
          this.compare(pair, grouped, toTime)
        }
      })
    }
    for (const series of this.all) this.forget(series, toTime)
    this.comparedTo = toTime
  }

  get result() {
    const pairs = this.pairs.map(({ finer, coarser, comparisons }): IntervalPair => {
      return { ...coarser.series, finer: finer.series.interval, comparisons }
    })
    return { pairs, differences: this.pairs.flatMap(({ differences }) => differences) }
  }

  private compare(pair: Pair, sums: CandleTable, toTime: number): void {
    const { finer, coarser } = pair
    const { series, table, grid } = coarser
    const from = Math.max(grid.start(this.comparedTo), this.range.fromTime)
    const to = Math.min(grid.start(toTime), this.range.toTime)
    for (const span of overlaps(finer.spans, coarser.spans)) {
      // A candle off the grid belongs to the span it opens in.
      const fromTime = Math.max(from, span.startTime)
      const range = { fromTime, toTime: Math.min(to, lastEnd(table, grid, span.endTime)) }
      if (fromTime >= range.toTime) continue
      const intervals = { symbol: series.symbol, interval: series.interval, finer: finer.series.interval }
      pair.comparisons += compareCandles(intervals, table, sums, range, pair.differences)
    }
  }

  /** Removes the candles of which all longer ones were compared. */
  private forget(series: SlicedSeries, toTime: number): void {
    const { table, isNamed } = series
    const coarser = this.pairs.filter(({ finer }) => finer === series).map(pair => pair.coarser)
    const rows = table.rowFrom(Math.min(...[series, ...coarser].map(({ grid }) => grid.start(toTime))))
    const before = this.unverified.get(series) ?? 0
    if (isNamed) this.unverified.set(series, before + countUnverified(table, rows, this.range))
    table.dropFirst(rows)
  }
}

/** The end of the open times of candles that end by a time, or close by then because trading ended. */
function lastEnd(table: CandleTable, grid: CandleGrid, time: number): number {
  const start = grid.start(time)
  const row = table.rowFrom(start)
  const isClosed = row < table.length && table.openTime(row) === start && table.closeTime(row) < time
  return isClosed ? start + 1 : start
}
