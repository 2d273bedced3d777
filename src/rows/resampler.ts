import { COLUMNS } from '../candles/columns.js'
import { addLengths } from '../candles/intervals.js'
import type { Series, SeriesLabel } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { CandleGrid } from './candle-grid.js'
import { CandleTable, groupCandles } from './candle-table.js'
import { BatchBuilder, type KlineBatch } from './kline-batch.js'
import { checkMultiple, parseTargetInterval, type TargetInterval } from './target-interval.js'
import { Kernel } from './wasm/kernel.js'

/** Which resampled candles to return. */
export interface ResampleOptions {
  /** Their open times; default: all. */
  readonly range?: TimeRange | undefined
  /** Where the source starts, ms UTC: a candle that opens earlier is incomplete. */
  readonly coveredFrom?: number | undefined
  /** Keep incomplete candles at either end. */
  readonly partial?: boolean | undefined
}

/**
 * Resamples a series to longer candles, in one pass and constant memory. A candle is complete when the source reaches from
 * its start to its end, or is known to have no candle up to there. Candles may be missing in between: during an outage, the
 * exchange builds its own longer candles from the rest, too.
 */
export class Resampler {
  /** The longer candle in progress, to which the next ones are added. */
  private readonly table: CandleTable
  private readonly grid: CandleGrid
  private readonly source: TargetInterval
  private readonly out: BatchBuilder
  private reachedTime = -Infinity

  /** `kernel`: for several that work in turn. Throws `bad_option` when whole candles of `source` do not fit into `target`. */
  constructor(
    source: SeriesLabel,
    target: TargetInterval,
    private readonly options: ResampleOptions = {},
    kernel = new Kernel(),
  ) {
    this.table = new CandleTable(kernel)
    checkMultiple(target, source.interval)
    this.source = parseTargetInterval(source.interval)
    this.grid = new CandleGrid(target, source.symbol)
    this.out = new BatchBuilder({ symbol: source.symbol, interval: target.name })
  }

  /** Adds the next candles and returns the longer ones that they complete, if any. */
  add(batch: KlineBatch): KlineBatch | undefined {
    const { table, grid } = this
    const { lastOpenTime } = batch
    if (lastOpenTime === undefined) return undefined
    this.reachedTime = addLengths(this.source.length, lastOpenTime)
    table.add(batch)
    table.kernel.withScratch(() => {
      const candles = groupCandles(table, grid)
      const last = candles.length - 1
      for (let row = 0; row < last; row++) this.finish(candles, row)
      // Sums of sums are the same sums.
      table.clear()
      table.begin(candles.openTime(last))
      table.addToLast(candles, last, candles.length)
    })
    return this.out.take()
  }

  /**
   * Returns the last candle if the source reached its end, or if partial candles are wanted. `completeUntil`: until
   * when the source is known to have no other candles than those that were added, ms UTC.
   */
  end(completeUntil = -Infinity): KlineBatch | undefined {
    const { table, grid, options } = this
    const reachedTime = Math.max(this.reachedTime, completeUntil)
    if (table.length > 0 && (options.partial || reachedTime >= grid.end(table.openTime(0)))) this.finish(table, 0)
    return this.out.take()
  }

  /** Returns a row with the next ones, if it is wanted. */
  private finish(candles: CandleTable, row: number): void {
    const { range, coveredFrom = -Infinity, partial = false } = this.options
    const openTime = candles.openTime(row)
    if (range && (openTime < range.fromTime || openTime >= range.toTime)) return
    if (openTime < coveredFrom && !partial) return
    const cells = COLUMNS.map((_, column) => candles.text(row, column))
    this.out.add(cells, [openTime, candles.closeTime(row), candles.count(row)])
  }
}

/** The range of source candles that the target's candles in `range` consist of: the last one may end after `range`. */
export function sourceRange({ symbol }: Series, target: TargetInterval, { fromTime, toTime }: TimeRange): TimeRange {
  return { fromTime, toTime: new CandleGrid(target, symbol).next(toTime) }
}
