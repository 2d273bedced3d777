import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import type { Interval } from '../../src/candles/intervals.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW, type Market } from '../support/exchange/market.js'

const [SECOND, HOUR, DAY] = [1_000, 3_600_000, 86_400_000]

/** Runs the same download again and again; returns what each run requested. */
async function setup(symbol: string, interval: Interval, range: { from?: string; to?: string }, market?: Market) {
  const all = await exchangeSetup(market)
  const run = async (now = all.exchange.time) => {
    all.exchange.now = now
    const report = await downloadKlines({ ...all.request(), symbols: [symbol], intervals: [interval], ...range })
    return { requests: all.requests(), report, windows: report.series[0].windows }
  }
  return { ...all, run }
}

describe('a series whose windows are all over is requested once:', () => {
  it.each<[string, string, Interval, { from: string; to: string }, number, number, number, string]>([
    // Listed on Tuesday 2019-11-05, delisted on Tuesday 2020-06-02: 31 weeks with candles.
    [
      ...(['delisted, 15m', 'NAVBTC', '15m', { from: '2019-10-01', to: '2021-01-01' }] as const),
      ...([5, 31, 30, '2020-06-02'] as const),
    ],
    [
      ...(['delisted, 1d', 'NAVBTC', '1d', { from: '2016-01-01', to: '2024-01-01' }] as const),
      ...([1, 2, 1, '2020-06-02'] as const),
    ],
    // 2022-06 to 2022-09, 2023-03 to 2023-08, and empty months between, before and after.
    [
      ...(['with a hole of five months', 'USDCUSDT', '1h', { from: '2022-04-01', to: '2023-12-01' }] as const),
      ...([2, 10, 8, '2022-09-29'] as const),
    ],
  ])('%s', async (_, symbol, interval, range, before, populated, empty, lastDay) => {
    const { run, dates, text } = await setup(symbol, interval, range)
    const first = await run()
    const stored = dates(`${interval}/${symbol}`)
    const isEmpty = (date: string) => text(`${interval}/${symbol}/${date}`) === '[]'
    expect(stored.filter(date => !isEmpty(date))).toHaveLength(populated)
    expect(stored.filter(isEmpty)).toHaveLength(before + empty)
    // Those before the listing need no request; of the last one the rest is asked for.
    expect(first.requests).toEqual([...stored.slice(before), lastDay, 'first candle', 'time'].sort())
    expect(first.report.requests).toBe(first.requests.length)
    const nothing = { requests: [], windows: { cached: stored.length, fetched: 0 } }
    expect(await run(EXCHANGE_NOW + 60 * SECOND)).toMatchObject(nothing)
    expect(first.report.series[0].coverage.shortAtStart).toBe(0)
    expect(await run(EXCHANGE_NOW + 40 * DAY)).toMatchObject(nothing)
  })

  it('with a gap at the end of a window', async () => {
    const market = madeMarket({
      GAPUSDT: { from: '2026-01-01', without: [['2026-02-28T20:00Z', '2026-03-01T06:00Z']] },
    })
    const { run, rows } = await setup('GAPUSDT', '1h', { from: '2026-02-01', to: '2026-04-01' }, market)
    expect((await run()).requests).toEqual(['2026-02-01', '2026-02-28', '2026-03-01', 'first candle', 'time'])
    const last = rows('1h/GAPUSDT/2026-02-01').at(-1) as KlineRow
    expect([last[0], last[6]]).toEqual([Date.UTC(2026, 1, 28, 19), Date.UTC(2026, 1, 28, 20) - 1])
    expect((await run()).requests).toEqual([])
    expect((await run(EXCHANGE_NOW + DAY)).requests).toEqual([])
  })
})

it('a symbol that was listed yesterday: no request for a window before', async () => {
  const { run, dates, text } = await setup('NEWUSDT', '15m', {})
  const first = await run()
  const stored = dates('15m/NEWUSDT')
  expect([stored[0], stored.at(-1), stored.length]).toEqual(['2017-06-26', '2026-04-27', 462])
  expect(stored.slice(0, -1).every(date => text(`15m/NEWUSDT/${date}`) === '[]')).toBe(true)
  expect(first.requests).toEqual(['2026-04-27', 'first candle', 'time'])
  expect(first.windows).toMatchObject({ total: 462, cached: 461, fetched: 1 })
  const again = await run(EXCHANGE_NOW + 60 * SECOND)
  expect(again.requests.filter(name => name !== 'time')).toEqual(['2026-04-27'])
})

it('a symbol without a candle: its windows are empty until it has one', async () => {
  const market = madeMarket({ SOONUSDT: { from: EXCHANGE_NOW + DAY - (EXCHANGE_NOW % DAY) } })
  const { exchange, run, request, dates, requests, rows } = await setup(
    'SOONUSDT',
    '1d',
    { from: '2022-01-01' },
    market,
  )
  await expect(run()).rejects.toMatchObject({ code: 'no_candles' })
  expect(requests()).toEqual(['2022-01-01', '2024-01-01', '2026-01-01', 'first candle', 'time'])
  exchange.now = EXCHANGE_NOW + 3 * DAY
  await downloadKlines({ ...request(), symbols: ['SOONUSDT'], intervals: ['1d'] })
  expect(requests()).toEqual(['2026-01-01', 'first candle', 'time'])
  expect(dates('1d/SOONUSDT').at(-1)).toBe('2026-01-01')
  expect(rows('1d/SOONUSDT/2026-01-01').map(([openTime]) => openTime)).toEqual([
    Date.UTC(2026, 4, 1),
    Date.UTC(2026, 4, 2),
  ])
})

describe('the last candle of a window', () => {
  const END = Date.UTC(2026, 3, 27)
  const made = madeMarket({ BTCUSDT: { from: '2026-04-01' } })
  let restatedFrom = Number.POSITIVE_INFINITY
  let now = () => 0
  /** From a time on the last candle of the week has another volume. */
  const market: Market = {
    ...made,
    rows: (symbol, interval) =>
      made.rows(symbol, interval)?.map(row => {
        const isRestated = now() >= restatedFrom && row[6] === END - 1
        return isRestated ? (Object.assign([...row], { 5: '987.65400000' }) as KlineRow) : row
      }),
  }

  it('that is restated within a day has its final values, and then no request is sent for it', async () => {
    const { exchange, run, mirror, rows, warnings } = await setup(
      'BTCUSDT',
      '15m',
      { from: '2026-04-20', to: '2026-04-27' },
      market,
    )
    now = () => exchange.time
    restatedFrom = END + 6 * HOUR
    const window = '15m/BTCUSDT/2026-04-20'
    const mtime = () => statSync(join(mirror, 'api/klines', `${window}.json`)).mtimeMs

    expect((await run(END + 60 * SECOND)).requests).toEqual(['2026-04-20', 'first candle', 'time'])
    const original = rows(window)
    expect(original).toHaveLength(672)
    expect(original.at(-1)?.[5]).not.toBe('987.65400000')

    const second = await run(END + 12 * HOUR)
    expect(second.requests.filter(name => name !== 'time')).toEqual(['2026-04-20'])
    expect(second.report.series[0].restated).toBe(1)
    expect(rows(window)).toEqual([
      ...original.slice(0, -1),
      (market.rows('BTCUSDT', '15m') ?? []).find(row => row[6] === END - 1),
    ])
    expect(mtime()).toBe(END + 12 * HOUR)

    // Rendered less than a day after its end: still open, though nothing has changed.
    const third = await run(END + DAY - SECOND)
    expect(third.requests.filter(name => name !== 'time')).toEqual(['2026-04-20'])
    const fourth = await run(END + DAY)
    expect(fourth.requests.filter(name => name !== 'time')).toEqual(['2026-04-20'])
    expect(mtime()).toBe(END + DAY)
    // A day after the end of the range, its end may still move.
    expect((await run(END + DAY)).requests.filter(name => name !== 'time')).toEqual([])
    expect((await run(END + 30 * DAY)).requests).toEqual([])
    expect(rows(window).at(-1)?.[5]).toBe('987.65400000')
    expect(warnings).toEqual([])
  })
})
