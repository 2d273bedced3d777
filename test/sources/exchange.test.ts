import { describe, expect, it, onTestFinished } from 'vitest'
import type { Series } from '../../src/candles/series.js'
import { exchangeSource } from '../../src/sources/exchange.js'
import { exchangeRules, InvalidSymbolError } from '../../src/sources/exchange-api.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../src/sources/retry.js'
import type { Fetched, Source } from '../../src/sources/source.js'
import { HttpTransport } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'
import { ERROR_UNDER_200 } from '../support/exchange/exchange-answers.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { SPOT } from '../support/exchange/spot.js'
import { FakeClock } from '../support/fake-clock.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { sampleRow } from '../support/windows.js'

const SERIES = { symbol: 'BTCUSDT', interval: '1d' } as const
const PROBE = 'api/v3/klines?symbol=BTCUSDT&interval=1d&startTime=0'
const DAY = 86_400_000
const signal = new AbortController().signal

/** The made market as a source, without pauses between its three tries. */
async function setup({ names = [] as string[] } = {}) {
  const exchange = await ExchangeServer.start(madeMarket(MADE_SYMBOLS, { names }))
  const warnings: string[] = []
  const clock = new FakeClock(EXCHANGE_NOW)
  const name = `binance:${exchange.url}`
  const policy = { ...RETRY_POLICY, tries: 3 }
  const transport = new HttpTransport(exchange.url, { connections: 4 })
  const fetcher = new Fetcher(transport, name, {
    concurrency: 4,
    policy,
    clock,
    rules: exchangeRules(name, SPOT, () => clock.now()),
  })
  /** This machine's present. */
  const machine = { now: EXCHANGE_NOW }
  const source = exchangeSource(fetcher, SPOT, { now: () => machine.now, observe: () => {} }, text =>
    warnings.push(text),
  )
  onTestFinished(() => source.close())
  return { exchange, source, machine, warnings, firstCandle: askFirstCandle(source) }
}

const askFirstCandle =
  ({ firstCandle }: Source) =>
  async (series: Series) =>
    firstCandle?.(series, signal)

it('the names that cannot be used are named once, a few of them, safe for a terminal', async () => {
  const names = [
    '①USDT',
    '\u001b[2JX\u0007\n',
    'x'.repeat(500),
    'a',
    'b',
    'c',
    ...Array.from({ length: 2_000 }, (_, n) => `é${n}`),
  ]
  const { source, warnings } = await setup({ names })
  const found = await source.symbols(signal)
  expect(found.names).toEqual(['BTCUSDT', 'BTCEUR', 'NAVBTC', 'NEWUSDT', 'PEPEUSDT', 'USDCUSDT'])
  const shown = `"①USDT", "[2JX", "${'x'.repeat(20)}...", "a", "b"`
  expect(warnings).toEqual([
    `Names (2006) that are not 2 or more letters and digits, at most 40 bytes of UTF-8, in upper case, are left out: ${shown}.`,
  ])
})

describe('the first candle', () => {
  it('is the one that the exchange has, or none', async () => {
    const { firstCandle, exchange } = await setup({ names: ['SOONUSDT'] })
    expect(await firstCandle(SERIES)).toBe(Date.UTC(2023, 10, 20))
    expect(await firstCandle({ ...SERIES, symbol: 'SOONUSDT' })).toBeUndefined()
    expect(await catchError(firstCandle({ ...SERIES, symbol: 'XYZ' }))).toBeInstanceOf(InvalidSymbolError)
    expect(exchange.log).toHaveLength(3)
  })

  const row = sampleRow(EXCHANGE_NOW - 1)
  it.each<[string, unknown, RegExp]>([
    ['microseconds', [sampleRow(1_700_438_400_000_000)], /1 rows, from 1700438400000000 on; expected one, in the past/],
    ['a time after the answer', [sampleRow(EXCHANGE_NOW + 2_000)], /1 rows, from .*; expected one, in the past/],
    ['two rows', [row, row], /2 rows, .* expected one/],
    ['an open time that is a text', [[String(row[0])]], /expected one, in the past/],
    ['an object', { rows: [] }, /not an array/],
  ])('of %s is a failed attempt, not a series without candles', async (_, body, message) => {
    const { exchange, firstCandle } = await setup()
    exchange.script(PROBE, { body: JSON.stringify(body) }, ERROR_UNDER_200)
    expect(await firstCandle(SERIES)).toBe(Date.UTC(2023, 10, 20))
    expect(exchange.log).toHaveLength(3)
    exchange.always('api/v3/klines?symbol=BTCEUR', { body: JSON.stringify(body) })
    expect(await catchError(firstCandle({ ...SERIES, symbol: 'BTCEUR' }))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message),
    })
    // It is asked for again.
    exchange.reset()
    expect(await firstCandle({ ...SERIES, symbol: 'BTCEUR' })).toBe(Date.UTC(2024, 0, 3))
  })
})

it('a window is one request, and its time is that of the answer', async () => {
  const { source, exchange } = await setup()
  const fetched = await source.fetch({ ...SERIES, startDate: '2024-01-01' }, undefined, signal)
  expect(fetched).toMatchObject({ rendered: EXCHANGE_NOW, asked: EXCHANGE_NOW })
  expect(exchange.log.map(({ path }) => path)).toEqual([
    `api/v3/klines?symbol=BTCUSDT&interval=1d&startTime=${Date.UTC(2024, 0)}&endTime=${Date.UTC(2026, 0) - 1}&limit=1000`,
  ])
  // The clock is known now.
  expect((await source.startDates('1d', signal)).served).toBe(EXCHANGE_NOW)
  expect(exchange.log).toHaveLength(1)
})

describe('the clock of a source that lives for days', () => {
  it.each([
    ['goes on by itself for what follows at once', 0, 20_000, 20_000, 0],
    ['is asked again after an idle day', 0, DAY, DAY, 1],
    ['goes on also by a machine whose clock is a day ahead', DAY, 5_000, 5_000, 0],
    ['is asked again by a machine whose clock went back', 0, DAY, -DAY, 1],
  ])('%s', async (_, ahead, idle, machineIdle, calls) => {
    const { exchange, source, machine } = await setup()
    machine.now += ahead
    expect(await source.now(signal)).toBe(EXCHANGE_NOW)
    exchange.reset()
    exchange.now = EXCHANGE_NOW + idle
    machine.now += machineIdle
    expect(await source.now(signal)).toBe(EXCHANGE_NOW + idle)
    expect(exchange.log).toHaveLength(calls)
  })

  it('is the latest Date of any answer', async () => {
    const { exchange, source } = await setup()
    exchange.script('api/v3/time', { status: 503 })
    expect(await source.now(signal)).toBe(EXCHANGE_NOW)
    exchange.now = EXCHANGE_NOW - 30_000
    await source.fetch({ ...SERIES, startDate: '2024-01-01' }, undefined, signal)
    expect(await source.now(signal)).toBe(EXCHANGE_NOW)
    expect(exchange.log.map(({ status }) => status)).toEqual([503, 200, 200])
  })

  it('gives the list of start dates its newest day', async () => {
    const { exchange, source, machine } = await setup()
    expect((await source.startDates('1m', signal)).names.at(-1)).toBe('2026-04-30')
    exchange.now = machine.now += DAY
    expect((await source.startDates('1m', signal)).names.at(-1)).toBe('2026-05-01')
  })

  it('does not take a window that was fetched the day before for the present one', async () => {
    const { exchange, source, machine, firstCandle } = await setup()
    const fetchRows = async (startDate: string) =>
      (await source.fetch({ symbol: 'NEWUSDT', interval: '1h', startDate }, undefined, signal)) as Fetched
    await firstCandle({ symbol: 'NEWUSDT', interval: '1h' })
    expect((await fetchRows('2026-03-01')).batch.length).toBe(0)
    // The window that confirmed the first candle is there once.
    const asked = exchange.log.length
    await fetchRows('2026-04-01')
    expect(exchange.log).toHaveLength(asked)
    expect((await fetchRows('2026-03-01')).batch.length).toBe(0)
    await fetchRows('2026-04-01')
    await fetchRows('2026-04-01')
    expect(exchange.log).toHaveLength(asked + 2)
    expect((await fetchRows('2026-03-01')).batch.length).toBe(0)
    exchange.now = machine.now += DAY / 4
    // From 29 April 12:00 to the last hour that is over, at 10:20.
    expect((await fetchRows('2026-04-01')).batch.length).toBe(12 + 10)
  })
})
