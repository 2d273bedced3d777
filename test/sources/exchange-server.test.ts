import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { BANNED_SILENTLY, ERROR_UNDER_200, FORBIDDEN, RESTRICTED } from '../support/exchange/exchange-answers.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { realMarket } from '../support/exchange/real-market.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { aggregateOracle } from '../support/oracles/resample-oracle.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const HOUR = 3_600_000
const QUARTER = HOUR / 4
const MINUTE = 60_000
/** Midnight: the beginning of the first candle. */
const START = Date.UTC(2026, 3, 1)

/** The window of each interval that the real slice ends with. */
const LAST_WINDOWS = [
  ['15m', '2026-04-27'],
  ['30m', '2026-04-20'],
  ['1h', '2026-04-01'],
  ['2h', '2026-03-01'],
  ['4h', '2026-04-01'],
  ['6h', '2026-01-01'],
  ['8h', '2026-01-01'],
  ['12h', '2026-01-01'],
  ['1d', '2026-01-01'],
  ['3d', '2025-01-01'],
  ['1w', '2020-01-01'],
  ['1M', '2010-01-01'],
] as const

/** A candle with a price and a volume, both in whole numbers. */
function row(openTime: number, length: number, price: number, volume: number): KlineRow {
  const text = (units: number) => `${units}.00000000`
  const prices = [text(price), text(price + 2), text(price - 2), text(price + 1)] as const
  const [half, quote] = [text(volume / 2), text(volume * price)]
  return [openTime, ...prices, text(volume), openTime + length - 1, quote, volume, half, half, '0']
}

const hours = Array.from({ length: 1200 }, (_, index) => row(START + index * HOUR, HOUR, 100 + index, 8))
/** The quarters of hour 9. */
const quarters = [0, 1, 2, 3].map(index => row(START + 9 * HOUR + index * QUARTER, QUARTER, 200 + index, 2))
const market = madeMarket({
  AB: { rows: { '1h': hours, '15m': quarters } },
  OLD: { rows: { '1h': hours.slice(0, 3) } },
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

async function setup(now = START + 2000 * HOUR) {
  const server = await ExchangeServer.start(market)
  server.now = now
  const get = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`${server.url}/${path}`, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  const klines = (query: string, init?: RequestInit) => get(`api/v3/klines?${query}`, init)
  /** The indices of the hours in an answer. */
  const indices = async (query: string) => {
    const rows = (await klines(`symbol=AB&interval=1h&${query}`)).body as KlineRow[]
    return rows.map(([openTime]) => (openTime - START) / HOUR)
  }
  return { server, get, klines, indices }
}

describe('rows', () => {
  it('come ascending from startTime, both times inclusive, at most the limit', async () => {
    const { klines, indices } = await setup()
    const [three, six] = [hours[3][0], hours[6][0]]
    expect(await indices(`startTime=${three}&endTime=${six}`)).toEqual([3, 4, 5, 6])
    expect(await indices(`startTime=${three + 1}&endTime=${six - 1}`)).toEqual([4, 5])
    expect(await indices(`startTime=${three}&endTime=${six}&limit=2`)).toEqual([3, 4])
    expect(await indices(`startTime=${three}&endTime=${three}`)).toEqual([3])
    expect(await indices(`startTime=${three + 1}&endTime=${three + 1}`)).toEqual([])
    expect(await indices('startTime=0&limit=1')).toEqual([0])
    expect((await klines('symbol=AB&interval=1h&startTime=0&limit=1000')).body).toEqual(hours.slice(0, 1000))
  })

  it('are the most recent ones without startTime, 500 without a limit', async () => {
    const { klines, indices } = await setup()
    expect(await indices('limit=2')).toEqual([1198, 1199])
    expect(await indices(`endTime=${hours[6][0]}&limit=2`)).toEqual([5, 6])
    expect((await klines('symbol=AB&interval=1h')).body).toEqual(hours.slice(-500))
    expect((await klines('symbol=AB&interval=1h&startTime=0')).body).toEqual(hours.slice(0, 500))
    expect((await klines('symbol=AB&interval=4h&startTime=0')).body).toEqual([])
  })

  it('end with the open candle: the aggregate of the finer ones so far, with the time at which it will close', async () => {
    const { server, klines } = await setup(START + 9 * HOUR + 2 * QUARTER)
    const open = `${START + 9 * HOUR}`
    const text = (units: number) => `${units}.00000000`
    const prices = [text(200), text(203), text(198), text(202)]
    expect((await klines(`symbol=AB&interval=1h&startTime=${START + 8 * HOUR}`)).body).toEqual([
      hours[8],
      [Number(open), ...prices, text(4), Number(open) + HOUR - 1, text(802), 4, text(2), text(2), '0'],
    ])
    // Before the first finer one has closed it is a part of the final candle; without trades so far it would be equal.
    server.now = START + 9 * HOUR
    const [early] = (await klines(`symbol=AB&interval=1h&startTime=${open}`)).body as KlineRow[]
    expect([early[0], early[6], early[5], early[8]]).toEqual([hours[9][0], hours[9][6], text(4), 4])
    expect((await klines('symbol=AB&interval=1h&limit=1')).body).toEqual([early])
    expect((await klines(`symbol=AB&interval=1h&endTime=${Number(open) - 1}&limit=1`)).body).toEqual([hours[8]])
  })

  it('close after their last millisecond, and do not exist before they open', async () => {
    const { server, indices, klines } = await setup(hours[9][6])
    const last = async () => ((await klines('symbol=AB&interval=1h&limit=1')).body as KlineRow[])[0]
    expect(await last()).not.toEqual(hours[9])
    expect((await last())[0]).toBe(hours[9][0])
    server.now = hours[9][6] + 1
    expect(await indices('limit=2')).toEqual([9, 10])
    expect((await klines('symbol=AB&interval=1h&limit=2')).body).toEqual([hours[9], expect.anything()])
    server.now = START - 1
    expect(await indices('startTime=0')).toEqual([])
  })

  it('follow a clock that moves, also while a request waits', async () => {
    const { server, klines } = await setup()
    let now = hours[9][0]
    server.now = () => now
    server.hold = () => {
      now = hours[10][0]
    }
    const { body, headers } = await klines('symbol=AB&interval=1h&startTime=0&limit=10')
    expect(body).toEqual(hours.slice(0, 10))
    expect(Date.parse(headers.get('date') ?? '')).toBe(hours[10][0])
    expect(server.log[0].time).toBe(hours[9][0])
  })
})

describe('errors', () => {
  it.each([
    ['', -1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed."],
    ['symbol=ab', -1102, "Mandatory parameter 'interval' was not sent, was empty/null, or malformed."],
    [
      'symbol=ab&interval=x',
      -1100,
      "Illegal characters found in parameter 'symbol'; legal range is '^[\\w\\-._&&[^a-z]]{1,50}$'.",
    ],
    ['symbol=AB&interval=x&startTime=1e3', -1100, expect.stringContaining("'startTime'")],
    ['symbol=XX&interval=x', -1121, 'Invalid symbol.'],
    ['symbol=AB&interval=1H', -1120, 'Invalid interval.'],
    ['symbol=AB&interval=1h&limit=1001', -1130, "Data sent for parameter 'limit' is not valid."],
  ])('%s: %i', async (query, code, msg) => {
    const { server, klines } = await setup()
    expect(await klines(query)).toMatchObject({ status: 400, body: { code, msg } })
    expect([...server.weights.values()]).toEqual([2])
  })

  it('a path that does not exist is 404', async () => {
    const { server, get } = await setup()
    expect((await get('api/v4/klines')).status).toBe(404)
    expect(server.violations).toEqual(['unknown path: api/v4/klines'])
  })
})

describe('limits', () => {
  it('each response says the weight used in the minute of the clock', async () => {
    const { server, get, klines } = await setup(START)
    const used = async (path: string) => (await get(path)).headers.get('x-mbx-used-weight-1m')
    expect(await used('api/v3/klines?symbol=AB&interval=1h')).toBe('2')
    expect(await used('api/v3/ticker/price')).toBe('6')
    expect(await used('api/v3/time')).toBe('7')
    server.otherWeight = 5000
    expect(await used('api/v3/time')).toBe('5008')
    server.now = START + MINUTE
    expect(await used('api/v3/time')).toBe('1')
    expect([...server.weights]).toEqual([
      [START / MINUTE, 8],
      [START / MINUTE + 1, 1],
    ])
    server.sendsWeight = false
    expect((await klines('')).headers.has('x-mbx-used-weight-1m')).toBe(false)
  })

  it('429 over the limit, and 418 after five more requests', async () => {
    const { server, klines } = await setup(START + 18_000)
    server.otherWeight = 5996
    const statuses = async (count: number) => {
      const list: number[] = []
      for (let index = 0; index < count; index++) list.push((await klines('symbol=AB&interval=1h')).status)
      return list
    }
    expect(await statuses(2)).toEqual([200, 200])
    const refused = await klines('symbol=AB&interval=1h')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '42'])
    expect(refused.body).toMatchObject({
      code: -1003,
      msg: expect.stringMatching(/^Too much request weight used; current/),
    })
    expect(await statuses(5)).toEqual([429, 429, 429, 429, 429])
    const ban = await klines('symbol=AB&interval=1h')
    expect([ban.status, ban.headers.get('retry-after')]).toEqual([418, '120'])
    const msg = expect.stringContaining(`IP banned until ${START + 138_000}.`)
    expect(ban.body).toEqual({ code: -1003, msg })
    expect(server.violations).toEqual([])
    server.now = START + MINUTE
    expect(await statuses(3)).toEqual([418, 418, 418])
    expect(server.violations).toContain('request after 418: api/v3/klines?symbol=AB&interval=1h')
    server.now = START + 138_000
    expect(await statuses(1)).toEqual([200])
  })

  it('only a request that was on its way may come after a 418', async () => {
    const { server, klines } = await setup()
    server.always('api', BANNED_SILENTLY)
    await Promise.all([1, 2, 3].map(() => klines('symbol=AB&interval=1h')))
    expect(server.violations).toEqual([])
    for (let index = 0; index < 4; index++) await klines('symbol=AB&interval=1h')
    expect(server.violations.length).toBeGreaterThan(0)
  })

  it('without a limit, and without Retry-After', async () => {
    const { server, klines } = await setup()
    server.weightLimit = 1
    server.sendsRetryAfter = false
    const { status, headers } = await klines('')
    expect([status, headers.has('retry-after')]).toEqual([429, false])
    server.weightLimit = Number.POSITIVE_INFINITY
    expect((await klines('symbol=AB&interval=1h')).status).toBe(200)
  })
})

describe('other answers', () => {
  it('are compressed for who accepts it, with the clock in Date', async () => {
    const { server, klines } = await setup(START + 9 * HOUR)
    const query = 'symbol=AB&interval=1h&startTime=0'
    const { headers, body } = await klines(query)
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(headers.get('content-type')).toBe('application/json;charset=UTF-8')
    expect(headers.get('date')).toBe(new Date(server.time).toUTCString())
    const plain = await klines(query, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.has('content-encoding')).toBe(false)
    expect(plain.body).toEqual(body)
  })

  it('all names with a price, and the time', async () => {
    const names = Array.from({ length: 3500 }, (_, index) => `N${index}USDT`)
    const server = await ExchangeServer.start(madeMarket(MADE_SYMBOLS, { names }))
    const prices = (await (await fetch(`${server.url}/api/v3/ticker/price`)).json()) as {
      symbol: string
      price: string
    }[]
    expect(prices.map(({ symbol }) => symbol)).toEqual([...Object.keys(MADE_SYMBOLS), ...names])
    expect(prices[0].price).toMatch(/^\d+\.\d{8}$/)
    expect(await (await fetch(`${server.url}/api/v3/time`)).json()).toEqual({ serverTime: EXCHANGE_NOW })
    const url = `${server.url}/api/v3/klines?symbol=N7USDT&interval=1h&startTime=0`
    expect(await (await fetch(url)).text()).toBe('[]')
    expect(server.violations).toEqual([])
  })

  it('what a client must not send is written down', async () => {
    const { server, get, klines } = await setup()
    await klines('symbol=AB&interval=1h&timeZone=8')
    await klines('symbol=AB', { headers: { 'x-mbx-apikey': 'k', 'x-mbx-time-unit': 'MICROSECOND' } })
    await get('api/v3/time', { method: 'POST' })
    const { body } = await get('api/v3/exchangeInfo')
    expect(JSON.stringify(body).length).toBeGreaterThan(16 * 1024 * 1024)
    expect(server.violations).toEqual([
      'parameter timeZone: api/v3/klines?symbol=AB&interval=1h&timeZone=8',
      'header x-mbx-apikey: api/v3/klines?symbol=AB',
      'header x-mbx-time-unit: api/v3/klines?symbol=AB',
      'method POST: api/v3/time',
      'exchangeInfo: api/v3/exchangeInfo',
    ])
  })

  it('can be scripted by the beginning of a path or a function', async () => {
    const { server, klines } = await setup()
    server.script('api/v3/klines?symbol=AB&interval=1h', FORBIDDEN, ERROR_UNDER_200)
    server.always(({ symbol, limit }) => symbol === 'OLD' && limit === 7, RESTRICTED)
    const statuses = async (...queries: string[]) => {
      const answers: Answer[] = []
      for (const query of queries) answers.push(await klines(query))
      return answers.map(({ status, body }) => [status, Array.isArray(body) ? 'rows' : typeof body])
    }
    const [AB, OLD] = ['symbol=AB&interval=1h&limit=1', 'symbol=OLD&interval=1h&limit=7']
    expect(await statuses(OLD, AB, AB, AB, OLD)).toEqual([
      [451, 'object'],
      [403, 'string'],
      [200, 'object'],
      [200, 'rows'],
      [451, 'object'],
    ])
    expect(
      server.log.map(({ kind, symbol, interval, limit, status }) => [kind, symbol, interval, limit, status]),
    ).toEqual([
      ['klines', 'OLD', '1h', 7, 451],
      ['klines', 'AB', '1h', 1, 403],
      ['klines', 'AB', '1h', 1, 200],
      ['klines', 'AB', '1h', 1, 200],
      ['klines', 'OLD', '1h', 7, 451],
    ])
    server.reset()
    expect([await statuses(OLD), server.log.length, [...server.weights.values()]]).toEqual([[[200, 'rows']], 1, [2]])
  })
})

describe('made candles', () => {
  const made = madeMarket(MADE_SYMBOLS)
  const rows = (symbol: string, interval: string) => made.rows(symbol, interval) ?? []
  const day = (text: string) => Date.parse(text)

  it.each(['30m', '1h', '12h', '1d', '3d', '1w', '1M'])('%s is the exact aggregate of 15m', interval => {
    for (const symbol of ['NAVBTC', 'USDCUSDT']) {
      const fine = rows(symbol, '15m')
      const coarse = rows(symbol, interval)
      expect(coarse.length).toBeGreaterThan(0)
      let next = 0
      const expected = coarse.map(([openTime], index) => {
        const end = coarse[index + 1]?.[0] ?? Number.POSITIVE_INFINITY
        const start = next
        while (next < fine.length && fine[next][0] < end) next++
        return aggregateOracle(openTime, fine.slice(start, next))
      })
      expect(coarse).toEqual(expected)
    }
  })

  it('lie on the grid: weeks from Monday, months from the first, 3d from the day of the listing', () => {
    const firsts = (interval: string) =>
      rows('NAVBTC', interval)
        .slice(0, 2)
        .map(([time]) => new Date(time).toISOString())
    expect(firsts('15m')).toEqual(['2019-11-05T06:00:00.000Z', '2019-11-05T06:15:00.000Z'])
    expect(firsts('8h')).toEqual(['2019-11-05T00:00:00.000Z', '2019-11-05T08:00:00.000Z'])
    expect(firsts('3d')).toEqual(['2019-11-05T00:00:00.000Z', '2019-11-08T00:00:00.000Z'])
    expect(firsts('1w')).toEqual(['2019-11-04T00:00:00.000Z', '2019-11-11T00:00:00.000Z'])
    expect(firsts('1M')).toEqual(['2019-11-01T00:00:00.000Z', '2019-12-01T00:00:00.000Z'])
    expect(rows('NAVBTC', '1m')).toEqual([])
    expect(made.rows('XX', '1h')).toBeUndefined()
  })

  it('a relisted symbol has a hole, and a delisted one no open candle', async () => {
    const times = rows('USDCUSDT', '1d').map(([openTime]) => openTime)
    const hole = times.indexOf(day('2022-09-29'))
    expect(times[hole + 1]).toBe(day('2023-03-12'))
    const server = await ExchangeServer.start(made)
    const klines = async (query: string) => (await fetch(`${server.url}/api/v3/klines?${query}`)).json()
    server.now = day('2020-06-02T03:05Z')
    expect(await klines('symbol=NAVBTC&interval=15m&limit=1')).toEqual(rows('NAVBTC', '15m').slice(-1))
    expect(await klines('symbol=PEPEUSDT&interval=15m')).toEqual([])
  })
})

describe.skipIf(!hasRealTree)('the real slice', () => {
  it('is complete at the clock: each window without the open candle is the published one', async () => {
    const root = realTree()
    const server = await ExchangeServer.start(realMarket(root))
    const now = server.time
    for (const [interval, date] of LAST_WINDOWS) {
      const path = `${server.url}/api/v3/klines?symbol=ADAUSDT&interval=${interval}&startTime=${Date.parse(date)}&limit=1000`
      const rows = (await (await fetch(path)).json()) as KlineRow[]
      const window = readFileSync(join(root, `api/klines/${interval}/ADAUSDT/${date}.json`), 'utf8')
      expect(JSON.stringify(rows.filter(([openTime]) => openTime < rows[rows.length - 1][0])), interval).toBe(window)
      const [openTime, , , , , volume, closeTime, , count] = rows[rows.length - 1]
      expect(openTime <= now && closeTime >= now && count > 0 && Number(volume) > 0, interval).toBe(true)
    }
  })
})
