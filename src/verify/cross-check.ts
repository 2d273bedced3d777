import { approximateLength } from '../candles/intervals.js'
import type { TimeRange } from '../candles/time-range.js'
import type { WindowSpan } from '../candles/windows.js'
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

/** A series, with the slice of its candles that is compared. */
interface CheckedSeries {
  readonly reader: SlicedSeries
  /** With the longer series that its candles add up to, shortest first. */
  readonly pairs: Pair[]
  spans: readonly WindowSpan[]
  /** The open times of the slice, ms UTC. */
  fromTime: number
  toTime: number
}

interface Pair {
  readonly label: SeriesPair
  readonly finer: CheckedSeries
  readonly coarser: CheckedSeries
  /** Whose sums to add up in place of the finer candles: sums of sums are the same sums. */
  readonly base: Pair | undefined
  /** What the finer candles of the slice add up to. */
  sums: CandleTable
  comparisons: number
  readonly differences: Difference[]
}

/**
 * Compares every candle of the named series that a finer series of the same symbol covers with the exact sum of its finer candles, in all
 * columns, for every pair of intervals of which one fits into the other, slice by slice of time. Candles that the exchange itself has off
 * the grid do not add up: they are not compared. All tables belong to one kernel.
 */
export class CrossChecker {
  private readonly checked: readonly CheckedSeries[]
  /** How many candles of a series were compared with no finer ones. */
  readonly unverified = new Map<SlicedSeries, number>()

  /** `all`: the series of one symbol, with their first candles. `range`: the candles that are compared. `isPrice`: of prices alone. */
  constructor(
    all: readonly SlicedSeries[],
    private readonly range: TimeRange,
    private readonly isPrice = false,
  ) {
    const isPart = (finer: CheckedSeries, coarser: CheckedSeries) =>
      isMultiple(parseTargetInterval(coarser.reader.series.interval), finer.reader.series.interval)
    const length = ({ reader }: CheckedSeries) => approximateLength(reader.series.interval)
    this.checked = all.map(reader => ({ reader, pairs: [], spans: [], fromTime: -Infinity, toTime: -Infinity }))
    const shortestFirst = this.checked.filter(({ reader }) => reader.isNamed).toSorted((a, b) => length(a) - length(b))
    for (const finer of this.checked) {
      const { pairs, reader } = finer
      for (const coarser of shortestFirst.filter(one => isPart(finer, one))) {
        // So few candles are added up twice.
        const base = pairs.findLast(pair => isPart(pair.coarser, coarser))
        const label = { ...coarser.reader.series, finer: reader.series.interval }
        pairs.push({ label, finer, coarser, base, sums: reader.table, comparisons: 0, differences: [] })
      }
    }
  }

  /** Compares the candles up to `toTime`: they are in the tables, with the next one. Removes what no later slice needs. */
  check(toTime: number): void {
    for (const one of this.checked) {
      one.fromTime = one.toTime
      one.toTime = one.reader.grid.start(toTime)
      one.spans = one.reader.spans
    }
    for (const { reader, pairs } of this.checked) {
      const { table } = reader
      const rows = table.rowFrom(toTime)
      table.kernel.withScratch(() => {
        for (const pair of pairs) {
          const { grid } = pair.coarser.reader
          pair.sums = pair.base ? groupCandles(pair.base.sums, grid) : groupCandles(table, grid, rows)
          this.compare(pair)
        }
      })
    }
    for (const one of this.checked) this.forget(one)
  }

  get result() {
    const pairs = this.checked.flatMap(one => one.pairs)
    return {
      pairs: pairs.map(({ label, comparisons }): IntervalPair => ({ ...label, comparisons })),
      differences: pairs.flatMap(({ differences }) => differences),
    }
  }

  private compare(pair: Pair): void {
    const { label, finer, coarser, sums, differences } = pair
    const { table, grid } = coarser.reader
    const from = Math.max(coarser.fromTime, this.range.fromTime)
    const to = Math.min(coarser.toTime, this.range.toTime)
    for (const span of overlaps(finer.spans, coarser.spans)) {
      // A candle off the grid belongs to the span it opens in.
      const fromTime = Math.max(from, span.startTime)
      const toTime = Math.min(to, lastEnd(table, grid, span.endTime))
      if (fromTime < toTime)
        pair.comparisons += compareCandles(label, table, sums, { fromTime, toTime }, differences, this.isPrice)
    }
  }

  /** Removes the candles of which all longer ones were compared. */
  private forget({ reader, pairs, toTime }: CheckedSeries): void {
    const { table, isNamed } = reader
    const rows = table.rowFrom(pairs.reduce((time, { coarser }) => Math.min(time, coarser.toTime), toTime))
    const before = this.unverified.get(reader) ?? 0
    if (isNamed) this.unverified.set(reader, before + countUnverified(table, rows, this.range))
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
