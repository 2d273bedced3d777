import { COLUMNS, type Column } from '../candles/columns.js'
import type { Series } from '../candles/series.js'
import { planRequest } from '../engine/plan.js'
import { readPlan } from '../engine/read.js'
import { Tally } from '../engine/report.js'
import { openRun, withRun } from '../engine/run.js'
import { CandleTable } from '../rows/candle-table.js'
import { GapCounter } from '../rows/gaps.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Kernel } from '../rows/wasm/kernel.js'
import type { CheckRequest } from './verify.js'

/** The decimals of the statistics: cells of the sum of all candles. */
const DECIMALS = {
  firstPrice: 'open',
  lastPrice: 'close',
  lowest: 'low',
  highest: 'high',
  volume: 'volume',
  quoteVolume: 'quote_volume',
  takerBuyVolume: 'taker_buy_volume',
  takerBuyQuoteVolume: 'taker_buy_quote_volume',
} as const
/** Exact, as text; undefined for a series without candles. */
type StatsDecimals = Readonly<Record<keyof typeof DECIMALS, string | undefined>>

/** The statistics of some series of a mirror. */
export type StatsReport = Awaited<ReturnType<typeof statsKlines>>

/** Exact statistics of series. Throws `incomplete` where windows are missing or corrupt, and `no_candles`. */
export function statsKlines(request: CheckRequest) {
  return withRun(openRun({ ...request, offline: true }), async run => {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    const found: Awaited<ReturnType<typeof computeStats>>[] = []
    for await (const [one, batches] of readPlan(run, tally, { asIs: true }))
      found.push(await computeStats(one.series, batches))
    const { series, mirror, baseUrl, range } = await tally.report()
    return {
      mirror,
      baseUrl,
      range,
      series: series.map(({ coverage, noTradeSince }, index) => ({ ...found[index], coverage, noTradeSince })),
    }
  })
}

async function computeStats(series: Series, batches: AsyncIterable<KlineBatch>) {
  const kernel = new Kernel()
  const [table, total] = [new CandleTable(kernel), new CandleTable(kernel)]
  const gaps = new GapCounter(series)
  total.begin(0)
  for await (const batch of batches) {
    gaps.add(batch)
    table.clear()
    table.add(batch)
    total.addToLast(table, 0, table.length)
  }
  const text = (name: Column) => (total.rows(0) === 0 ? undefined : total.text(0, COLUMNS.indexOf(name)))
  const decimals = Object.entries(DECIMALS).map(([name, column]) => [name, text(column)])
  const { totals, largestGap } = gaps
  const exact = Object.fromEntries(decimals) as StatsDecimals
  return { ...series, ...totals, ...exact, trades: total.count(0), largestGap }
}
