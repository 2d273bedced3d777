import { COLUMNS, type Column } from '../candles/columns.js'
import type { Series } from '../candles/series.js'
import type { Coverage } from '../engine/coverage.js'
import { planRequest } from '../engine/plan.js'
import { readCandles, readWindows } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import { openRun, withRun } from '../engine/run.js'
import { CandleTable } from '../rows/candle-table.js'
import { GapCounter, type SeriesTotals } from '../rows/gaps.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Kernel } from '../rows/wasm/kernel.js'
import type { CheckRequest, VerificationReport } from './verify.js'

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

/** The statistics of some series of a mirror. */
export interface StatsReport extends Pick<VerificationReport, 'mirror' | 'baseUrl' | 'range'> {
  readonly series: readonly (SeriesStats & { readonly coverage: Coverage })[]
}

/** Exact statistics of series. Throws `incomplete` where windows are missing or corrupt, and `no_candles`. */
export function readStats(request: CheckRequest): Promise<StatsReport> {
  return withRun(openRun({ ...request, offline: true }), async run => {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    const windows = readWindows(run, plan.series)
    const found: SeriesStats[] = []
    for (const one of plan.series) {
      const builder = new StatsBuilder(one.series)
      for await (const batch of readCandles(windows, one, tally)) builder.add(batch)
      found.push(builder.result)
    }
    const { mirror, baseUrl, range, series } = tally.report()
    return { mirror, baseUrl, range, series: series.map(({ coverage }, index) => ({ ...found[index], coverage })) }
  })
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
