import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines, updateKlines } from '../../src/engine/klines.js'
import { catchError } from '../support/errors.js'
import { UNKNOWN_SYMBOL } from '../support/exchange/exchange-answers.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'

const MANY = Array.from({ length: 25 }, (_, index) => `X${index}EUR`)
const market = madeMarket(MADE_SYMBOLS, { names: MANY })
const DAYS = { intervals: ['1d'] as Interval[], from: '2026-01-01' }

async function setup() {
  const all = await exchangeSetup(market)
  const download = (symbols: string[] | 'all', more = {}) =>
    downloadKlines({ ...all.request(), ...DAYS, symbols, ...more })
  return { ...all, download }
}

describe('a symbol of the exchange', () => {
  it.each(['btc/usdt', 'BTC-USDT', ' btcusdt '])('can be written %s', async name => {
    const { download, dates } = await setup()
    expect((await download([name])).series[0]).toMatchObject({ symbol: 'BTCUSDT', candles: 119 })
    expect(dates('1d/BTCUSDT')).toEqual(['2026-01-01'])
  })

  it.each([
    ['PEPEUSD', 'PEPEUSDT'],
    ['NAVBT', 'NAVBTC'],
    ['CON', undefined],
  ])('%s is unknown before anything is downloaded, and %s is near', async (name, near) => {
    const { download, requests, mirror } = await setup()
    const error = await catchError(download(['BTCUSDT', name]))
    expect(error).toMatchObject({ code: 'unknown_symbol', data: { symbol: name, symbols: [name] } })
    expect(error.message).toMatch(
      new RegExp(`^Unknown symbol "${name}"; binance:http://127.0.0.1:\\d+ has no such symbol\\.$`),
    )
    expect(error.suggestions).toEqual(near ? [`Did you mean ${near}?`] : [])
    expect(requests()).toEqual(['first candle', 'first candle', 'prices', 'time'])
    expect(existsSync(mirror)).toBe(false)
  })

  it.each(['../../etc', 'BTC\u0000', '币\u202e安', 'A', 'X'.repeat(41), 'BTC%2F', '..'])(
    '%j is refused without a request',
    async name => {
      const { download, exchange, mirror } = await setup()
      expect(await catchError(download([name]))).toMatchObject({ code: 'unknown_symbol' })
      expect(exchange.log).toEqual([])
      expect(existsSync(mirror)).toBe(false)
    },
  )
})

it('a pattern stands for the names of the exchange', async () => {
  const { download, requests } = await setup()
  const { series } = await download(['*EUR'], { from: '2025-12-01' })
  expect(series.map(({ symbol }) => symbol)).toEqual(['BTCEUR', ...MANY.toSorted()])
  expect(requests().filter(name => name === 'prices')).toHaveLength(1)
})

describe('all', () => {
  it('is refused for an empty mirror, with advice and without a request', async () => {
    const { download, exchange, mirror } = await setup()
    const error = await catchError(download('all'))
    expect(error).toMatchObject({
      code: 'bad_option',
      suggestions: [expect.stringContaining('klines symbols --base-url binance')],
    })
    expect(error.message).toBe(`"all" stands for the symbols of the mirror, and ${mirror} has none yet.`)
    expect(exchange.log).toEqual([])
    expect(existsSync(mirror)).toBe(false)
  })

  it('stands for the symbols of the mirror, the ten of the public service first', async () => {
    const { download } = await setup()
    await download(['PEPEUSDT', 'BTCEUR', 'BTCUSDT'])
    const { series } = await download('all')
    expect(series.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'BTCEUR', 'PEPEUSDT'])
  })

  it('names a symbol that the exchange does not know any more when the others are done', async () => {
    const { download, exchange, mirror } = await setup()
    await download(['PEPEUSDT', 'BTCUSDT'], { from: '2026-04-01' })
    const names = JSON.stringify([{ symbol: 'BTCUSDT', price: '1' }])
    exchange.always('api/v3/ticker', { status: 200, headers: { 'content-type': 'application/json' }, body: names })
    exchange.log.length = 0
    const error = await catchError(download('all', { from: '2026-04-01' }))
    expect(error).toMatchObject({ code: 'incomplete', data: { missing: ['PEPEUSDT'] } })
    expect(error.message).toMatch(/does not know PEPEUSDT any more; everything else is done\.$/)
    expect(error.suggestions).toEqual([expect.stringContaining(mirror)])
    expect(exchange.log.filter(({ kind }) => kind === 'klines').map(({ symbol }) => symbol)).toEqual(['BTCUSDT'])
  })

  it('that is cached, and unknown by now, fails window by window, and never the others', async () => {
    const { download, exchange, dates } = await setup()
    const names = ['NAVBTC', 'BTCUSDT']
    await download(names, { from: '2020-01-01', to: '2020-06-01' })
    exchange.always(({ symbol }) => symbol === 'NAVBTC', UNKNOWN_SYMBOL)
    const error = await catchError(download(names, { from: '2019-12-01', to: '2024-01-01' }))
    expect(error).toMatchObject({ code: 'incomplete' })
    expect(dates('1d/BTCUSDT')).toContain('2022-01-01')
  })

  it('names such symbols where there are no others, also those of a pattern', async () => {
    const { download, exchange, request } = await setup()
    await download(['PEPEUSDT', 'BTCUSDT'], { from: '2026-04-01' })
    const names = JSON.stringify([{ symbol: 'ETHUSDT', price: '1' }])
    exchange.always('api/v3/ticker', { status: 200, headers: { 'content-type': 'application/json' }, body: names })
    for (const [run, missing] of [
      [() => download('all'), ['BTCUSDT', 'PEPEUSDT']],
      [() => download(['PEPE*']), ['PEPEUSDT']],
      [() => updateKlines(request()), ['BTCUSDT', 'PEPEUSDT']],
    ] as const)
      expect(await catchError(run())).toMatchObject({ code: 'incomplete', data: { missing } })
  })
})

describe('3d candles of a symbol whose listing date is not known', () => {
  const request = {
    symbols: ['PEPEUSDT'],
    intervals: ['1d'] as Interval[],
    resample: '3d',
    from: '2025-05-01',
    to: '2025-08-01',
  }
  const expected = (market.rows('PEPEUSDT', '3d') ?? []).filter(([time]) => time < Date.UTC(2025, 6, 27))

  it('are counted from its first 3d candle, which is downloaded before', async () => {
    const { request: source, folder } = await setup()
    const output = join(folder, 'x.json')
    expect(await catchError(exportKlines({ ...source(), ...request, output }))).toMatchObject({
      code: 'bad_option',
      suggestions: ['Download it first: klines download PEPEUSDT -i 3d, with the same --base-url and --mirror.'],
    })
    await downloadKlines({ ...source(), symbols: ['PEPEUSDT'], intervals: ['3d'] })
    await exportKlines({ ...source(), ...request, output })
    const rows = JSON.parse(readFileSync(output, 'utf8')) as number[][]
    expect(new Date(rows[0][0]).toISOString()).toBe('2025-05-05T00:00:00.000Z')
    expect(rows.slice(0, expected.length)).toEqual(expected)
    await exportKlines({ ...source(), ...request, output: join(folder, 'y.json'), offline: true })
    expect(readFileSync(join(folder, 'y.json'), 'utf8')).toBe(readFileSync(output, 'utf8'))
  })
})
