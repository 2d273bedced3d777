import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportLake } from '../../src/lake/update.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { initDuckdb } from '../support/oracles/duckdb.js'

const MARKET = madeMarket({ TICKUSDT: { from: '2026-03-30T10:07Z', minutes: 1 } }, { until: '2026-04-05' })
const TO = '2026-04-03'

it('a lake with 1m is read with the name that people write, from one file', async () => {
  const { folder, request } = await exchangeSetup(MARKET)
  const lake = join(folder, 'lake')
  // The interval 1M is another one that only the case of its letter tells from 1m.
  const series = { symbols: ['TICKUSDT'], intervals: ['1m', '5m', '1M'] } as const
  await exportLake({ ...request(), ...series, from: '2026-03-01', to: TO, output: lake })
  const run = await initDuckdb(join(lake, '_views.sql'))
  const intervals = ['1M', '1m', '5m'].map(interval => ({ interval }))
  expect(await run('select distinct "interval" from klines order by all')).toEqual(intervals)
  const counts = "select count(*)::int as candles, sum(count)::int as trades from candles('TICKUSDT', '1m')"
  const rows = (MARKET.rows('TICKUSDT', '1m') ?? []).filter(([time]) => time < Date.parse(TO))
  expect(await run(counts)).toEqual([{ candles: rows.length, trades: rows.reduce((sum, row) => sum + row[8], 0) }])
  const [plan] = await run("explain analyze select sum(open) from candles('TICKUSDT', '5m')")
  expect(JSON.stringify(plan)).toMatch(/(Scanning Files: 1\/|Total Files Read: 1\b)/)
})
