import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRun } from '../../../src/engine/run.js'
import { turns } from '../../support/deferred.js'
import { banned, FORBIDDEN, tooManyRequests } from '../../support/exchange/exchange-answers.js'
import type { ExchangeRequest } from '../../support/exchange/exchange-request.js'
import { MADE_SYMBOLS, madeMarket } from '../../support/exchange/made-market.js'
import { EXCHANGE_NOW, type Market } from '../../support/exchange/market.js'
import { ExchangeServer } from '../../support/servers/exchange-server.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { expectErrorObject } from '../../support/servers/upstream-checks.js'
import { NO_PAUSE } from '../../support/servers/upstream-setup.js'
import { tempFolder } from '../../support/temp-folder.js'

const FINAL = 'api/klines/1h/BTCUSDT/2024-01-01.json'
const OPEN = 'api/klines/1h/BTCUSDT/2026-04-01.json'
const MISSING = 'api/klines/1h/BTCUSDT/2024-02-01.json'

/** This machine's clock, which is also the exchange's. */
let time = EXCHANGE_NOW

beforeEach(() => {
  time = EXCHANGE_NOW
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => time)
  return () => spy.mockRestore()
})

/** `klines serve --upstream` over a mirror of an exchange, in this process. */
async function setup({ market = madeMarket(MADE_SYMBOLS), mirror = join(tempFolder(), 'mirror') } = {}) {
  const exchange = await ExchangeServer.start(market as Market)
  exchange.now = () => time
  const baseUrl = `binance:${exchange.url}`
  const server = await startTestServer(mirror, {
    source: baseUrl,
    now: () => time,
    upstream: () => openRun({ baseUrl, mirror }, { policy: NO_PAUSE }),
  })
  onTestFinished(() => expect(exchange.violations).toEqual([]))
  const sent = (kind: ExchangeRequest['kind']) => exchange.log.filter(request => request.kind === kind)
  return { exchange, baseUrl, mirror, sent, ...server }
}

/** The same with a final and an open window in the mirror; the exchange's log is empty. */
async function cachedSetup() {
  const started = await setup()
  // The first one lies before the listing.
  const leading = 'api/klines/1h/BTCUSDT/2018-01-01.json'
  for (const path of [leading, FINAL, OPEN]) expect((await started.request(path)).status).toBe(200)
  started.exchange.reset()
  // Another candle has closed.
  time += 3_600_000
  return started
}

type Setup = Awaited<ReturnType<typeof setup>>

/** What needs no request is served as ever. */
async function expectCached({ request }: Setup): Promise<void> {
  const final = await request(FINAL)
  expect([final.status, final.headers.warning]).toEqual([200, undefined])
  expect(final.headers['cache-control']).toContain('immutable')
  const open = await request(OPEN)
  expect(open.status).toBe(200)
  expect(open.headers.warning).toMatch(/^111 /)
  expect(JSON.parse(String(open.body)).length).toBeGreaterThan(600)
  for (const path of ['api/klines/symbols.json', 'api/klines/start-dates/1h.json']) {
    const list = await request(path)
    expect([path, list.status, list.headers.warning]).toEqual([path, 200, undefined])
  }
  // Before the first candle, which is known.
  expect(String((await request('api/klines/1h/BTCUSDT/2020-01-01.json')).body)).toBe('[]')
}

describe('a server in front of the exchange', () => {
  it('requests a window once for ten clients at once', async () => {
    const { exchange, request, sent } = await setup()
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    exchange.hold = () => released
    const responses = Array.from({ length: 10 }, () => request(FINAL))
    await request('api/openapi.json')
    await turns()
    release()
    const bodies = new Set((await Promise.all(responses)).map(({ body }) => String(body)))
    expect(bodies.size).toBe(1)
    expect([...bodies][0].length).toBeGreaterThan(10_000)
    expect(sent('klines').map(({ limit }) => limit)).toEqual([1, 1000])
  })

  it('answers 503 until the next minute once half of the limit is used', async () => {
    const started = await cachedSetup()
    const { request, exchange } = started
    exchange.otherWeight = 2998
    // This one reaches the mark, and is still good.
    expect((await request(MISSING)).status).toBe(200)
    expect(exchange.log).toHaveLength(1)
    for (const month of ['03', '04']) {
      const refused = await request(`api/klines/1h/BTCUSDT/2024-${month}-01.json`)
      expectErrorObject(refused, 503)
      expect(Number(refused.headers['retry-after'])).toBe(60)
    }
    time += 50_000
    const later = await request('api/klines/1h/PEPEUSDT/2026-03-01.json')
    expectErrorObject(later, 503)
    expect(Number(later.headers['retry-after'])).toBe(10)
    await expectCached(started)
    expect(exchange.log).toHaveLength(1)

    time += 11_000
    expect((await request('api/klines/1h/BTCUSDT/2024-03-01.json')).status).toBe(200)
    expect((await request(OPEN)).headers.warning).toBeUndefined()
    expect(exchange.log).toHaveLength(3)
  })

  it.each([
    ['429 with Retry-After', tooManyRequests(20), 503, 20],
    ['418 with Retry-After', banned(EXCHANGE_NOW + 300_000, 240), 503, 240],
    ['403', FORBIDDEN, 502, 600],
  ])('sends no request after %s, until its time', async (_, answer, status, seconds) => {
    const started = await cachedSetup()
    const { request, exchange } = started
    exchange.script('api/v3/klines', answer)
    const first = await request(MISSING)
    expectErrorObject(first, status)
    if (status === 503) expect(Number(first.headers['retry-after'])).toBe(seconds)
    time += (seconds - 1) * 1000
    expectErrorObject(await request(MISSING), status)
    expectErrorObject(await request('api/klines/4h/PEPEUSDT/2026-01-01.json'), status)
    await expectCached(started)
    expect(exchange.log.map(logged => logged.status)).toEqual([answer.status])
    expect(exchange.violations).toEqual([])

    // The ban is over.
    exchange.reset()
    time += 1000
    expect((await request(MISSING)).status).toBe(200)
    expect(exchange.log).toHaveLength(1)
  })

  it('asks for an open window again once a candle has closed', async () => {
    const { request, exchange, sent } = await setup()
    // 1h: the exchange's clock stands 15 s after an hour's end, when a candle counts as closed, and goes to the next one.
    time = Math.floor(time / 3_600_000) * 3_600_000 + 15_000
    const read = async () => JSON.parse(String((await request(OPEN)).body)).length
    const candles = await read()
    exchange.reset()
    for (const later of [60_000, 3_539_999]) {
      time += later
      expect(await read()).toBe(candles)
    }
    expect(sent('klines')).toEqual([])
    time += 1
    expect(await read()).toBe(candles + 1)
    expect(sent('klines')).toHaveLength(1)
  })

  it('has lists, documents and a page before its first file, without a request', async () => {
    const { request, exchange } = await setup()
    expect(String((await request('api/klines/symbols.json')).body)).toBe('[]')
    const dates = JSON.parse(String((await request('api/klines/start-dates/1h.json')).body))
    expect([dates[0], dates.at(-1)]).toEqual(['2017-07-01', '2039-12-01'])
    const { components } = JSON.parse(String((await request('api/openapi.json')).body))
    expect(components.schemas.Symbol).toMatchObject({
      type: 'string',
      pattern: '^[^\\x00-/:-@\\[-\\x7f]{2,40}(_\\d{6})?$',
    })
    expect(components.schemas.Symbol.enum).toBeUndefined()
    expect(components.schemas.StartDate1h.enum).toEqual(dates)
    const page = String((await request('/')).body)
    expect(page).toContain(`A mirror of the exchange Binance: <code>${exchange.url}</code>.`)
    expect(page).not.toContain('ETHUSDT')
    expect(exchange.log).toEqual([])

    expect((await request('api/klines/1h/NOSUCHUSDT/2024-01-01.json')).status).toBe(404)
    await request('api/klines/1d/PEPEUSDT/2024-01-01.json')
    expect(String((await request('api/klines/symbols.json')).body)).toBe('["PEPEUSDT"]')
    expect(String((await request('/')).body)).toContain('PEPEUSDT')
  })
})
