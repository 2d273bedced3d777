import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type FileRow, treeFileRows } from '../../support/sample-tree.js'
import { startTestServer, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { upstreamSetup } from '../../support/servers/upstream-setup.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  makeTree,
  OPEN_WEEK,
  putFile,
  weekPath,
  weekRows,
} from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const CHINESE = '币安人生USDT'
/** No asset is called XYZ. */
const ODD = 'ABCXYZ'
const SERIES = 'symbol=BTCUSDT&interval=15m'
const [FIRST, SECOND] = FULL_WEEKS.map(week => Date.parse(week))
const LAST = Date.parse(OPEN_WEEK)

let rows: readonly FileRow[]
const server = useTestServer()
beforeAll(() => {
  for (const symbol of [CHINESE, ODD])
    putFile(server.root(), weekPath(symbol, FULL_WEEKS[0]), weekRows(FULL_WEEKS[0], { seed: 7 }))
  rows = treeFileRows(server.root(), 'BTCUSDT', '15m')
})
const get = (path: string, options = {}) => server.request(`/api/v3/${path}`, options)
const parse = ({ body }: TestResponse) => JSON.parse(String(body))

/** A query besides the series, and the rows that it wants. */
const RANGES: [query: string, wanted: (open: number, index: number, count: number) => boolean][] = [
  ['', () => true],
  ['limit=3', (_, index, count) => index >= count - 3],
  ['limit=0003', (_, index, count) => index >= count - 3],
  ['limit=1001', () => true],
  ['startTime=0&limit=1', open => open === FIRST],
  [`startTime=${SECOND}&endTime=${SECOND}`, open => open === SECOND],
  [`startTime=${SECOND + 1}&limit=2`, open => open > SECOND && open <= SECOND + 2 * 86_400_000],
  [`startTime=${FIRST}&endTime=${LAST}`, open => open <= LAST],
  [`endTime=${SECOND}&limit=4`, (open, index) => open <= SECOND && index >= 5],
  [`endTime=${SECOND - 1}`, open => open < SECOND],
  [`startTime=${SECOND}&endTime=${FIRST}`, () => false],
  ['startTime=0&endTime=0', () => false],
  ['endTime=0', () => false],
  ['startTime=99999999999999999999', () => false],
  ['endTime=99999999999999999999&limit=1', (_, index, count) => index === count - 1],
  ['startTime=1736121600', () => true],
]

describe('candles', () => {
  it.each(RANGES)('of %j are the rows of the files, by open time', async (query, wanted) => {
    const response = await get(`klines?${SERIES}&${query}`)
    const expected = rows.filter(([open], index) => wanted(Number(open), index, rows.length))
    expect([response.status, String(response.body)]).toEqual([200, JSON.stringify(expected)])
    const { 'access-control-allow-origin': origin, 'x-mbx-used-weight-1m': weight } = response.headers
    expect([origin, weight]).toEqual(['*', '0'])
  })

  it('of a name in another script, encoded', async () => {
    const response = await get(`klines?symbol=${encodeURIComponent(CHINESE)}&interval=15m&limit=1000`)
    expect(parse(response)).toEqual(weekRows(FULL_WEEKS[0], { seed: 7 }))
  })

  it('without a window between others are refused where they need it, and served elsewhere', async () => {
    const partial = makeTree(tempFolder())
    const { request } = await startTestServer(partial)
    rmSync(join(partial, weekPath('BTCUSDT', FULL_WEEKS[2])))
    const hole = Date.parse(FULL_WEEKS[2])
    for (const query of ['limit=1000', 'startTime=0', `startTime=${hole}&limit=1`, `endTime=${hole + 1}`]) {
      const response = await request(`/api/v3/klines?${SERIES}&${query}`)
      expect([query, response.status, parse(response).code]).toEqual([query, 503, -1001])
      expect(parse(response).msg).toContain(`BTCUSDT 15m ${FULL_WEEKS[2]}`)
    }
    for (const [query, count] of [
      ['startTime=0&limit=16', 16],
      ['limit=5', 5],
      [`endTime=${hole - 1}`, 16],
    ] as const) {
      const response = await request(`/api/v3/klines?${SERIES}&${query}`)
      expect([query, parse(response).length]).toEqual([query, count])
    }
  })
})

describe('a service that lacks windows', () => {
  it('may begin late and end early, but a window between others is refused', async () => {
    const { tree, request } = await upstreamSetup()
    const first = `/api/v3/klines?${SERIES}&startTime=0&limit=8`
    const count = async (query = '') => {
      const response = await request(`/api/v3/klines?${SERIES}&${query}`)
      return [response.status, parse(response).code ?? parse(response).length]
    }
    for (const week of [EMPTY_WEEK, FULL_WEEKS[0], FULL_WEEKS[2], OPEN_WEEK])
      rmSync(join(tree, weekPath('BTCUSDT', week)))
    expect(parse(await request(first))).toEqual(weekRows(FULL_WEEKS[1]))
    expect(await count(`endTime=${Date.parse(FULL_WEEKS[2]) - 1}`)).toEqual([200, 8])
    expect(await count('limit=16')).toEqual([200, 16])
    expect(await count()).toEqual([503, -1001])
    expect(await count(`startTime=${Date.parse(FULL_WEEKS[2])}&limit=1`)).toEqual([503, -1001])
  })

  it('or fails leaves no window that may have got more candles as the last one', async () => {
    const { service, request } = await upstreamSetup()
    const codes = async (query: string) => parse(await request(`/api/v3/klines?${SERIES}&${query}`)).code
    expect(await codes('limit=100')).toBeUndefined()
    service.always(weekPath('BTCUSDT', OPEN_WEEK), { status: 500 })
    expect(await codes('limit=100')).toBe(-1001)
    expect(await codes(`endTime=${LAST - 1}`)).toBeUndefined()
  })
})

/** The errors in their order: each query has the faults of those behind it too. */
const FAULTS: [path: string, code: number][] = [
  ['klines?interval=7m&limit=x', -1102],
  ['klines?symbol=&interval=7m', -1102],
  ...['btcusdt', 'BTC%2FUSDT', '%zz', 'A'.repeat(400), 'BTCUSDT&symbol=ETHUSDT'].map((symbol): [string, number] => [
    `klines?symbol=${symbol}&interval=7m&limit=x`,
    -1100,
  ]),
  ...['..', 'NOPEUSDT', 'DOTUSDT'].map((symbol): [string, number] => [`klines?symbol=${symbol}&interval=7m`, -1121]),
  ['klines?symbol=BTCUSDT&limit=x', -1102],
  ...['7m', '1m', '1d', '15min', '15m&interval=15m', '__proto__'].map((interval): [string, number] => [
    `klines?symbol=BTCUSDT&interval=${interval}&limit=x`,
    -1120,
  ]),
  ...['limit=x', 'limit=', 'limit=-1', 'limit=1.5', 'limit=1&limit=1', `limit=${'9'.repeat(400)}`].map(notValid),
  ...['startTime=-1', 'startTime=1e3', 'startTime=1.0', `endTime=${'9'.repeat(400)}`, 'endTime=NaN'].map(notValid),
  [`klines?${SERIES}&timeZone=8`, -1130],
  ['exchangeInfo?symbol=NOPEUSDT', -1121],
]

function notValid(query: string): [string, number] {
  return [`klines?${SERIES}&${query}`, -1130]
}

describe('errors', () => {
  it.each(FAULTS)('%s: %i', async (path, code) => {
    const response = await get(path)
    expect([response.status, parse(response)]).toEqual([400, { code, msg: expect.stringMatching(/\.$/) }])
    expect(response.headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-mbx-used-weight-1m': '0' })
  })

  it('have the form of the exchange below its paths, and the error object elsewhere', async () => {
    for (const [target, method, status] of [
      ['/api/v3/depth', 'GET', 404],
      ['/api/v3/', 'POST', 404],
      ['/api/v3/klines', 'POST', 405],
      ['/api/v3/kl%', 'GET', 400],
      [`/api/v3/${'x'.repeat(5000)}`, 'GET', 414],
    ] as const) {
      const response = await server.request(target, { method })
      expect([target.slice(0, 20), response.status, parse(response).code]).toEqual([target.slice(0, 20), status, -1020])
      if (status === 405) expect(response.headers.allow).toBe('GET, HEAD, OPTIONS')
    }
    for (const target of ['/api/v3', '/api/v33/klines', '/api/klines/v3.json'])
      expect(parse(await server.request(target))).toMatchObject({ statusCode: 404, isError: true })
    const head = await get('depth', { method: 'HEAD' })
    expect([head.status, head.body.length]).toEqual([404, 0])
  })
})

describe('symbols', () => {
  it('have their assets, and one without a known asset is left out', async () => {
    const { symbols, timezone } = parse(await get('exchangeInfo'))
    expect(timezone).toBe('UTC')
    expect(symbols.map(({ baseAsset, quoteAsset }: Record<string, string>) => `${baseAsset}/${quoteAsset}`)).toEqual([
      ...['BTC/USDT', 'ETH/USDT', '币安人生/USDT'],
    ])
    expect(symbols[0]).toEqual({ symbol: 'BTCUSDT', status: 'TRADING', baseAsset: 'BTC', quoteAsset: 'USDT' })
    const some = parse(await get('exchangeInfo?symbols=["ETHUSDT","BTCUSDT"]')).symbols
    expect(some.map(({ symbol }: Record<string, string>) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT'])
  })

  it('are all named, without a price', async () => {
    const names = ['BTCUSDT', 'ETHUSDT', ODD, CHINESE]
    expect(parse(await get('ticker/price'))).toEqual(names.map(symbol => ({ symbol })))
  })
})
