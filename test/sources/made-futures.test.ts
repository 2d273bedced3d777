import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { nextOpenTime } from '../support/exchange/market.js'
import { FuturesMarket } from '../support/futures/futures-market.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const MARKET = new FuturesMarket()
const DAY = 86_400_000
/** Times in the life of a contract: a listing, a halt, a delivery, and flat candles after an end. */
const SPANS = [
  ['BTCUSDT', '2019-09-08'],
  ['BTCUSDT', '2022-05-28'],
  ['BTCUSDT_260327', '2026-03-27'],
  ['FTTBUSD', '2022-11-14'],
] as const

const amounts = (row: readonly (string | number)[]) =>
  row.map((cell, column) => (column === 11 ? cell : toAmount(cell)))

describe('made candles of futures', () => {
  it.each(SPANS)('add up to the digit: %s of %s', (symbol, date) => {
    const start = Date.parse(date)
    const end = start + DAY
    const minutes = MARKET.candles('klines', symbol, '1m', [start, end])
    for (const interval of ['3m', '15m', '2h', '1d']) {
      for (const row of MARKET.candles('klines', symbol, interval, [start, end])) {
        const next = nextOpenTime(interval, row[0])
        if (next > end) continue
        const parts = minutes.filter(([time]) => time >= row[0] && time < next)
        const sum = aggregateOracle(row[0], parts).with(6, next - 1)
        expect(amounts(row), `${interval} ${row[0]}`).toEqual(amounts(sum))
      }
    }
  })

  it('of a month and a week are the sums of their days', () => {
    for (const [interval, date] of [
      ['1M', '2024-02-01'],
      ['1w', '2024-02-05'],
    ]) {
      const time = Date.parse(date)
      const [row] = MARKET.candles('klines', 'ETHUSDT', interval, [time, time + 1])
      const days = MARKET.candles('klines', 'ETHUSDT', '1d', [time, row[6]])
      expect(amounts(row)).toEqual(amounts(aggregateOracle(time, days)))
    }
  })

  it('have a quote volume between the lowest and the highest price, and flat rows in a halt', () => {
    const rows = MARKET.candles('klines', 'BTCUSDT', '15m', [Date.parse('2022-05-28'), Date.parse('2022-05-29')])
    for (const row of rows) {
      const [, , high, low, , volume, , quote] = row.map(Number)
      expect(quote).toBeGreaterThanOrEqual(low * volume * (1 - 1e-12))
      expect(quote).toBeLessThanOrEqual(high * volume * (1 + 1e-12))
    }
    expect(rows.filter(row => row[8] === 0).map(row => row[5])).toEqual(['0.000', '0.000'])
  })

  it('of the present are open, and closed a minute later', () => {
    const time = Date.parse('2026-04-30T04:20')
    const [open] = MARKET.newest('klines', 'BTCUSDT', '1m', Infinity, time + 30_000, 1)
    const [closed] = MARKET.newest('klines', 'BTCUSDT', '1m', time + 1, time + 60_000, 1)
    expect(open.with(5, 0)).not.toEqual(closed.with(5, 0))
    expect([open[0], open[6]]).toEqual([closed[0], closed[6]])
    expect(MARKET.candles('klines', 'BTCUSDT', '1m', [time, time + 60_000])).toEqual([closed])
  })
})

describe('the exchange of futures', () => {
  it('counts weights by the limit, refusals too, and none for funding', async () => {
    const exchange = await ExchangeServer.start(MARKET)
    const weigh = async (path: string) => {
      exchange.reset()
      const { headers } = await fetch(`${exchange.url}/fapi/v1/${path}`)
      return headers.get('x-mbx-used-weight-1m')
    }
    const klines = 'klines?symbol=BTCUSDT&interval=1h&startTime=1600000000000'
    const weights: [string, string | null][] = [
      [`${klines}&limit=99`, '1'],
      [`${klines}&limit=100`, '2'],
      [`${klines}&limit=499`, '2'],
      [`${klines}&limit=500`, '5'],
      [`${klines}&limit=1000`, '5'],
      [`${klines}&limit=1500`, '10'],
      [`${klines}&limit=1501`, '10'],
      [klines, '5'],
      ['klines?symbol=NOPE&interval=1h&limit=10', '1'],
      ['ticker/price', '2'],
      ['fundingRate?symbol=BTCUSDT', null],
    ]
    for (const [path, weight] of weights) expect([path, await weigh(path)]).toEqual([path, weight])
  })

  it('gives whole series in pages, by inclusive times', async () => {
    const exchange = await ExchangeServer.start(MARKET)
    const get = async (path: string) => (await (await fetch(`${exchange.url}/fapi/v1/${path}`)).json()) as KlineRow[]
    const day = 'klines?symbol=BTCUSDT&interval=1m&startTime=1577836800000&endTime=1577923140000&limit=1500'
    expect(await get(day)).toHaveLength(1440)
    const [first] = await get('klines?symbol=BTCUSDT&interval=1m&startTime=0&limit=1')
    expect(first[0]).toBe(Date.parse('2019-09-08T17:57Z'))
    exchange.faults.add('tied')
    const funding = 'fundingRate?symbol=BTCUSDT&startTime=0&limit=1000'
    const page = (await get(funding)) as unknown as { fundingTime: number }[]
    const last = page[999].fundingTime
    const next = (await get(`fundingRate?symbol=BTCUSDT&startTime=${last}&limit=3`)) as unknown as typeof page
    expect(next.map(row => row.fundingTime === last)).toEqual([true, true, false])
  })
})
