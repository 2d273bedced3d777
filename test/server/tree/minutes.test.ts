import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../../src/engine/klines.js'
import { exchangeSetup } from '../../support/exchange/exchange-setup.js'
import { madeMarket } from '../../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../../support/exchange/market.js'
import { startTestServer } from '../../support/servers/test-server.js'

const MINUTES = { from: '2026-04-26T10:07Z', minutes: 1 }
const MARKET = madeMarket({ TICKUSDT: MINUTES }, { until: EXCHANGE_NOW + 86_400_000 })

/** A server over a mirror of the exchange with a few days of 1m and 1M. */
async function setup() {
  const { request, mirror } = await exchangeSetup(MARKET)
  await downloadKlines({ ...request(), symbols: ['TICKUSDT'], intervals: ['1m', '1d'], from: '2026-04-25' })
  const server = await startTestServer(mirror, { now: () => EXCHANGE_NOW })
  const json = async (path: string) => JSON.parse(String((await server.request(path)).body))
  return { server, mirror, json }
}

describe('a server over a mirror of the exchange with 1m', () => {
  it('serves its windows and its list below 1min, and no path of 1m', async () => {
    const { server, mirror, json } = await setup()
    const path = 'api/klines/1min/TICKUSDT/2026-04-27.json'
    const { status, body } = await server.request(path)
    expect(status).toBe(200)
    expect(body.equals(readFileSync(join(mirror, path)))).toBe(true)
    expect(JSON.parse(String(body))).toHaveLength(1440)
    expect((await json('api/klines/start-dates/1min.json')).at(-1)).toBe('2026-04-30')
    for (const other of ['api/klines/1m/TICKUSDT/2026-04-27.json', 'api/klines/start-dates/1m.json'])
      expect((await server.request(other)).status, other).toBe(404)
    // A day of the future is empty; one that the mirror lacks is not.
    expect(String((await server.request('api/klines/1min/TICKUSDT/2026-05-01.json')).body)).toBe('[]')
    expect((await server.request('api/klines/3m/TICKUSDT/2026-04-27.json')).status).toBe(404)
  })

  it('exports them by the name that people write, and lists them on its page', async () => {
    const { server, json } = await setup()
    const { status, headers, body } = await server.request('/export/1m/TICKUSDT.csv?from=2026-04-27&to=2026-04-28')
    expect([status, headers['content-disposition']]).toEqual([200, expect.stringContaining('TICKUSDT-1m.csv')])
    expect(String(body).trimEnd().split('\n')).toHaveLength(1441)
    const { intervals, series } = await json('/coverage.json')
    expect(intervals.slice(0, 4)).toEqual(['1m', '3m', '5m', '15m'])
    expect(series[0]).toMatchObject({ interval: '1m', windows: 6 })
    expect(String((await server.request('/')).body)).toContain('export/1m/TICKUSDT.csv')
  })
})
