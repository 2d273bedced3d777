import { COLUMNS } from '../candles/columns.js'
import { addLengths } from '../candles/intervals.js'
import type { Series, SeriesLabel } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { CandleGrid } from './candle-grid.js'
import { CandleTable } from './candle-table.js'
import { BatchBuilder, type KlineBatch } from './kline-batch.js'
import { checkMultiple, parseTargetInterval, type TargetInterval } from './target-interval.js'
import { Kernel } from './wasm/kernel.js'

/** Which resampled candles to return. */
export interface ResampleOptions {
  /** Their open times; default: all. */
  readonly range?: TimeRange | undefined
  /** Where the source starts, ms UTC: a candle that opens earlier is incomplete. Default: with its first row. */
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
  private readonly table: CandleTable
  /** At most one row: the candle in progress. */
  private readonly candle: CandleTable
  private readonly grid: CandleGrid
  private readonly source: TargetInterval
  private readonly out: BatchBuilder
  /** When the candle in progress ends, ms UTC. */
  private endTime = -Infinity
  private reachedTime = -Infinity
  private coveredFrom: number | undefined

  /** `kernel`: for several that work in turn. Throws `bad_option` when whole candles of `source` do not fit into `target`. */
  constructor(
    source: SeriesLabel,
    target: TargetInterval,
    private readonly options: ResampleOptions = {},
    kernel = new Kernel(),
  ) {
    this.table = new CandleTable(kernel)
    this.candle = new CandleTable(kernel)
    checkMultiple(target, source.interval)
    this.source = parseTargetInterval(source.interval)
    this.grid = new CandleGrid(target, source.symbol)
    this.out = new BatchBuilder({ symbol: source.symbol, interval: target.name })
    this.coveredFrom = options.coveredFrom
  }

  /** Adds the next candles and returns the longer ones that they complete, if any. */
  add(batch: KlineBatch): KlineBatch | undefined {
    const { table, candle } = this
    table.clear()
    table.add(batch)
    for (let row = 0; row < table.length; ) {
      const openTime = table.openTime(row)
      if (openTime >= this.endTime) this.begin(openTime)
      const next = table.rowFrom(this.endTime, row)
      candle.addToLast(table, row, next)
      this.reachedTime = addLengths(this.source.length, table.openTime(next - 1))
      row = next
    }
    return this.out.take()
  }

  /**
   * Returns the last candle if the source reached its end, or if partial candles are wanted. `completeUntil`: until
   * when the source is known to have no other candles than those that were added, ms UTC.
   */
  end(completeUntil = -Infinity): KlineBatch | undefined {
    if (Math.max(this.reachedTime, completeUntil) >= this.endTime || this.options.partial) this.finish()
    return this.out.take()
  }

  private begin(openTime: number): void {
    this.finish()
    this.coveredFrom ??= openTime
    const start = this.grid.start(openTime)
    this.candle.clear()
    this.candle.begin(start)
    this.endTime = this.grid.end(start)
  }

  private finish(): void {
    const { candle, coveredFrom = -Infinity } = this
    const { range, partial = false } = this.options
    if (candle.length === 0) return
    const openTime = candle.openTime(0)
    if (range && (openTime < range.fromTime || openTime >= range.toTime)) return
    if (openTime < coveredFrom && !partial) return
    const cells = COLUMNS.map((_, column) => candle.text(0, column))
    this.out.add(cells, [openTime, candle.closeTime(0), candle.count(0)])
  }
}

/** The range of source candles that the target's candles in `range` consist of: the last one may end after `range`. */
export function sourceRange({ symbol }: Series, target: TargetInterval, { fromTime, toTime }: TimeRange): TimeRange {
  return { fromTime, toTime: new CandleGrid(target, symbol).next(toTime) }
}
