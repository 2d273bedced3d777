import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'

const NOON = Date.UTC(2026, 3, 29, 12)
const BTC = { symbols: ['BTCUSDT'] }
const time = (ms: number | undefined) => new Date(ms ?? 0).toISOString().slice(0, 19)

/** A right clock, one that is years ahead, and one that is years behind. */
const CLOCKS: [string, number][] = [
  ['right', NOON],
  ['years ahead', Date.UTC(2036, 0)],
  ['years behind', Date.UTC(2016, 0)],
]

describe.each(CLOCKS)("this machine's clock is %s:", (_, now) => {
  it.each<[string, number, string, string]>([
    ['at the close', 0, '2026-04-29T11:30:00', '2026-04-29T10:00:00'],
    ['14 s after it', 14_000, '2026-04-29T11:30:00', '2026-04-29T10:00:00'],
    ['15 s after it', 15_000, '2026-04-29T11:45:00', '2026-04-29T11:00:00'],
  ])(
    'the last candle %s is the last one that is closed by the clock of the exchange',
    async (_, past, quarter, hour) => {
      const { exchange, request, rows } = await exchangeSetup()
      exchange.now = NOON + past
      await downloadKlines({ ...request(), ...BTC, intervals: ['15m', '1h'], from: '2026-04-28', now })
      expect(time(rows('15m/BTCUSDT/2026-04-27').at(-1)?.[0])).toBe(quarter)
      expect(time(rows('1h/BTCUSDT/2026-04-01').at(-1)?.[0])).toBe(hour)
    },
  )

  it.each<[string, { from?: string; to?: string; last?: string }, string, string]>([
    ['the last 7 days', { last: '7d' }, '2026-04-22T12:00:00', '2026-04-29T10:00:00'],
    ['from yesterday', { from: 'yesterday' }, '2026-04-28T00:00:00', '2026-04-29T10:00:00'],
    ['up to now', { from: '2026-04-22', to: 'now' }, '2026-04-22T00:00:00', '2026-04-29T10:00:00'],
    ['up to a day ago', { from: '2026-04-22', to: '-1d' }, '2026-04-22T00:00:00', '2026-04-28T11:00:00'],
    ['a range of days', { from: '2026-04-22', to: '2026-04-23' }, '2026-04-22T00:00:00', '2026-04-22T23:00:00'],
  ])('%s', async (_, range, first, last) => {
    const { exchange, request, folder, rows } = await exchangeSetup()
    exchange.now = NOON
    const output = join(folder, 'x.json')
    const report = await exportKlines({ ...request(), ...BTC, intervals: ['1h'], now, output, ...range })
    expect([time(report.series[0].firstOpenTime), time(report.series[0].lastOpenTime)]).toEqual([first, last])
    expect(time(rows('1h/BTCUSDT/2026-04-01').at(-1)?.[0])).toBe('2026-04-29T10:00:00')
  })

  it('windows of the future are not requested, and those that have begun are', async () => {
    const { exchange, request, dates } = await exchangeSetup()
    exchange.now = NOON
    await downloadKlines({ ...request(), ...BTC, intervals: ['1h'], from: '2026-01-01', now })
    expect(dates('1h/BTCUSDT')).toEqual(['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01'])
  })

  it('a slow clock costs requests, a fast one does not make a window final', async () => {
    const { exchange, request, requests, warnings } = await exchangeSetup()
    exchange.now = NOON
    const run = () => downloadKlines({ ...request(), ...BTC, intervals: ['1h'], from: '2026-02-01', now })
    await run()
    expect(requests()).toEqual(['2026-02-01', '2026-03-01', '2026-04-01', 'first candle', 'time'])
    await run()
    // The time of a file is the earlier one of the two clocks.
    const isSlow = now < Date.UTC(2026, 0)
    expect(
      requests()
        .filter(name => name !== 'time')
        .sort(),
    ).toEqual(isSlow ? ['2026-02-01', '2026-03-01', '2026-04-01'] : ['2026-04-01'])
    const isOff = Math.abs(now - NOON) > 3_600_000
    const noted = expect.stringMatching(/^The clocks differ: the service says 2026-04-29T12:00Z, this machine /)
    expect([...new Set(warnings)]).toEqual(isOff ? [noted] : [])
  })
})

it('an hour that closes early is kept back until it is over', async () => {
  const open = NOON - 3_600_000
  const row = (openTime: number, closeTime: number) =>
    [openTime, '1.0', '2.0', '0.5', '1.5', '3.0', closeTime, '4.0', 5, '1.0', '2.0', '0'] as const
  const hours = [row(open - 3_600_000, open - 1), row(open, open + 600_000)]
  const { exchange, request, rows } = await exchangeSetup(
    madeMarket({ BTCUSDT: { until: NOON, rows: { '1h': hours.map(cells => [...cells]) } } }),
  )
  const count = async (now: number) => {
    exchange.now = now
    await downloadKlines({ ...request(), ...BTC, intervals: ['1h' as Interval], from: '2026-04-01' })
    return rows('1h/BTCUSDT/2026-04-01').length
  }
  expect(await count(open + 30 * 60_000)).toBe(1)
  expect(await count(NOON + 14_000)).toBe(1)
  expect(await count(NOON + 15_000)).toBe(2)
})
