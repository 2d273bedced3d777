import type { KlineBatch } from '../batch/kline-batch.js'
import { COLUMNS, type Column } from '../columns.js'
import { CandleTable } from '../kernel/candle-table.js'
import { Kernel } from '../kernel/kernel.js'
import type { Series } from '../series.js'
import { GapCounter, type SeriesTotals } from './gap-counter.js'

/** Statistics of a series. Decimals are exact, as text; undefined for a series without candles. */
export interface SeriesStats extends Series, SeriesTotals {
  readonly firstPrice: string | undefined
  readonly lastPrice: string | undefined
  readonly lowest: string | undefined
  readonly highest: string | undefined
  readonly volume: string | undefined
  readonly quoteVolume: string | undefined
  readonly takerBuyVolume: string | undefined
  readonly takerBuyQuoteVolume: string | undefined
  readonly trades: number
  /** Candles missing in the largest gap; 0 when there is none. */
  readonly largestGap: number
}

/** Builds the statistics of a series from its batches in order of time. */
export class StatsBuilder {
  private readonly gapCounter: GapCounter
  private readonly kernel = new Kernel()
  private readonly table = new CandleTable(this.kernel)
  /** The aggregate of all candles. */
  private readonly total = new CandleTable(this.kernel)

  constructor(private readonly series: Series) {
    this.gapCounter = new GapCounter(series)
    this.total.begin(0)
  }

  /** Adds the next batch. Throws `digits_lost` at a decimal too long for exact sums. */
  add(batch: KlineBatch): void {
    this.gapCounter.add(batch)
    this.table.clear()
    this.table.add(batch)
    this.total.addToLast(this.table, 0, this.table.length)
  }

  get result(): SeriesStats {
    const { series, total, gapCounter } = this
    const text = (name: Column) => (total.rows(0) === 0 ? undefined : total.text(0, COLUMNS.indexOf(name)))
    return {
      ...series,
      ...gapCounter.totals,
      firstPrice: text('open'),
      lastPrice: text('close'),
      lowest: text('low'),
      highest: text('high'),
      volume: text('volume'),
      quoteVolume: text('quote_volume'),
      takerBuyVolume: text('taker_buy_volume'),
      takerBuyQuoteVolume: text('taker_buy_quote_volume'),
      trades: total.count(0),
      largestGap: gapCounter.largestGap,
    }
  }
}
