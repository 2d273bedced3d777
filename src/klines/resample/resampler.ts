import { BatchBuilder } from '../batch/batch-builder.js'
import type { KlineBatch } from '../batch/kline-batch.js'
import { nextOpenTime } from '../intervals.js'
import { CandleTable } from '../kernel/candle-table.js'
import { Kernel } from '../kernel/kernel.js'
import type { Series } from '../series.js'
import type { TimeRange } from '../time-range.js'
import { CandleGrid, checkMultiple, parseTargetInterval, type TargetInterval } from './target-interval.js'

/** Which of the resampled candles are wanted. */
export interface ResampleOptions {
  /** Their open times; default: all. */
  readonly range?: TimeRange | undefined
  /** From when on the source has candles if there were any, ms UTC: a candle that opens before is not whole. */
  readonly coveredFrom?: number | undefined
  /** Keep candles at either end that the source covers in part only. */
  readonly partial?: boolean | undefined
}

/**
 * Makes coarser candles of a series, in one pass and flat memory: batches in, in order of time, and batches out. A candle is
 * whole when the source reaches from its start to its end; what is missing in between is an outage of the exchange, whose own
 * coarser candles are made of the rest, too.
 */
export class Resampler {
  private readonly kernel = new Kernel()
  private readonly table = new CandleTable(this.kernel)
  /** The candle under way, or nothing yet. */
  private readonly candle = new CandleTable(this.kernel)
  private readonly grid: CandleGrid
  private readonly out: BatchBuilder
  /** When the candle under way ends, ms; before the first one, nothing is under way. */
  private endTime = -Infinity
  private reachedTime = -Infinity

  /** Throws `bad_option` when candles of `source` do not fit into those of `target`. */
  constructor(
    private readonly source: Series,
    target: TargetInterval,
    private readonly options: ResampleOptions = {},
  ) {
    checkMultiple(target, source.interval)
    this.grid = new CandleGrid(target, source.symbol)
    this.out = new BatchBuilder({ symbol: source.symbol, interval: target.name })
  }

  /** Takes the next candles; the coarser ones that are over with them, if any. */
  add(batch: KlineBatch): KlineBatch | undefined {
    const { table, candle } = this
    table.clear()
    table.add(batch)
    for (let row = 0; row < table.length; ) {
      const openTime = table.openTime(row)
      if (openTime >= this.endTime) this.begin(openTime)
      const next = table.rowFrom(this.endTime, row)
      candle.addToLast(table, row, next)
      this.reachedTime = nextOpenTime(this.source.interval, table.openTime(next - 1))
      row = next
    }
    return this.out.take()
  }

  /** The last candle, if the source reached its end. */
  end(): KlineBatch | undefined {
    if (this.reachedTime >= this.endTime || this.options.partial) this.finish()
    return this.out.take()
  }

  private begin(openTime: number): void {
    this.finish()
    const start = this.grid.start(openTime)
    this.candle.clear()
    this.candle.begin(start)
    this.endTime = this.grid.end(start)
  }

  private finish(): void {
    const { candle } = this
    if (candle.length === 0) return
    const openTime = candle.openTime(0)
    const { range, coveredFrom = -Infinity, partial = false } = this.options
    if (range && (openTime < range.fromTime || openTime >= range.toTime)) return
    if (openTime >= coveredFrom || partial) this.out.add(candle, 0)
  }
}

/** The range of source candles that the target's candles in `range` are made of: whole candles at its end. */
export function sourceRange({ symbol }: Series, target: TargetInterval, { fromTime, toTime }: TimeRange): TimeRange {
  if (toTime === Infinity) return { fromTime, toTime }
  const grid = new CandleGrid(target, symbol)
  const start = grid.start(toTime)
  return { fromTime, toTime: start === toTime ? toTime : grid.end(start) }
}

/**
 * Coarser candles of one series from its batches in order of time; `target` such as `3h` (see `parseTarget`). Throws as
 * `Resampler` does, and `unknown_interval`.
 */
export async function* resample(
  batches: AsyncIterable<KlineBatch> | Iterable<KlineBatch>,
  source: Series,
  target: TargetInterval | string,
  options?: ResampleOptions,
): AsyncGenerator<KlineBatch> {
  const resampler = new Resampler(source, typeof target === 'string' ? parseTargetInterval(target) : target, options)
  for await (const batch of batches) {
    const made = resampler.add(batch)
    if (made) yield made
  }
  const last = resampler.end()
  if (last) yield last
}
