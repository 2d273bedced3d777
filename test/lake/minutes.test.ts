import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LakeRequest } from '../../src/lake/plan.js'
import { exportLake } from '../../src/lake/update.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { initDuckdb } from '../support/oracles/duckdb.js'

const MARKET = madeMarket({ TICKUSDT: { from: '2026-03-30T10:07Z', minutes: true } })
/** Two days, and a month: with the interval 1M it is another one that only the case of its letter tells from 1m. */
const RANGE = { from: '2026-04-01', to: '2026-04-03' }

async function setup() {
  const all = await exchangeSetup(MARKET)
  const lake = join(all.folder, 'lake')
  const update = (options: Partial<LakeRequest> = {}) =>
    exportLake({
      ...all.request(),
      symbols: ['TICKUSDT'],
      intervals: ['1m', '5m', '1M'],
      from: '2026-03-01',
      to: '2026-04-03',
      output: lake,
      ...options,
    })
  return { ...all, lake, update, query: () => initDuckdb(join(lake, '_views.sql')) }
}

describe('a lake with 1m', () => {
  it('is read with the name that people write, from one file', async () => {
    const { update, query } = await setup()
    await update()
    const run = await query()
    expect(await run('select distinct "interval" from klines order by all')).toEqual([
      { interval: '1M' },
      { interval: '1m' },
      { interval: '5m' },
    ])
    const counts = "select count(*)::int as candles, sum(count)::int as trades from candles('TICKUSDT', '1m')"
    const rows = (MARKET.rows('TICKUSDT', '1m') ?? []).filter(([time]) => time < Date.parse(RANGE.to))
    expect(await run(counts)).toEqual([{ candles: rows.length, trades: rows.reduce((sum, row) => sum + row[8], 0) }])
    const [plan] = await run("explain analyze select sum(open) from candles('TICKUSDT', '5m')")
    expect(JSON.stringify(plan)).toMatch(/(Scanning Files: 1\/|Total Files Read: 1\b)/)
  })
})
