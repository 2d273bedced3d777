import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { downloadKlines } from '../../../src/engine/klines.js'
import { listSymbols } from '../../../src/engine/lists.js'
import { openRun } from '../../../src/engine/run.js'
import { deferred, turns } from '../../support/deferred.js'
import { exchangeSetup } from '../../support/exchange/exchange-setup.js'
import { MADE_SYMBOLS, madeMarket } from '../../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../../support/exchange/market.js'
import { filesBelow } from '../../support/files-below.js'
import { type FileRow, SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { NO_PAUSE } from '../../support/servers/upstream-setup.js'
import { tempFolder } from '../../support/temp-folder.js'

/** What the tests use of the clients; ccxt has the types of a hundred exchanges. */
interface Ccxt {
  readonly urls: { readonly api: { public: string } }
  fetchOHLCV(symbol: string, interval: string, since?: number, limit?: number): Promise<number[][]>
}
type Candles = (options: object) => Promise<Record<string, unknown>[]>

const require = createRequire(import.meta.url)
const ccxt = require('ccxt') as { binance: new (options: object) => Ccxt }
const { default: binance } = require('binance-api-node') as { default: (options: object) => { candles: Candles } }

/** As its users point it at another host. */
function ccxtAt(url: string): Ccxt {
  const client = new ccxt.binance({ options: { fetchMarkets: { types: ['spot'] } }, enableRateLimit: false })
  client.urls.api.public = `${url}/api/v3`
  return client
}

/** The whole history, page by page, as bots read it. */
async function fetchAll(client: Ccxt, symbol: string, interval: string): Promise<number[][]> {
  const all: number[][] = []
  let since = Date.UTC(2017, 0)
  for (;;) {
    const page = await client.fetchOHLCV(symbol, interval, since, 1000)
    const last = page.at(-1)
    if (last === undefined) return all
    all.push(...page)
    since = last[0] + 1
  }
}

const toNumbers = (rows: readonly FileRow[]) => rows.map(row => row.slice(0, 6).map(Number))

describe('the sample, without a service', () => {
  const start = () => startTestServer(SAMPLE_TREE, { now: Date.now })

  it('comes whole to ccxt, which asks for the symbols once', async () => {
    const lines: string[] = []
    const { url } = await startTestServer(SAMPLE_TREE, { now: Date.now, log: line => void lines.push(line) })
    const client = ccxtAt(url)
    for (const symbol of ['BTC/USDT', 'ETH/USDT'])
      for (const interval of ['1h', '1d', '1M']) {
        const rows = sampleRows(symbol.replace('/', ''), interval)
        expect(await fetchAll(client, symbol, interval)).toEqual(toNumbers(rows))
      }
    expect(await client.fetchOHLCV('BTC/USDT', '15m')).toEqual(toNumbers(sampleRows('BTCUSDT', '15m').slice(-500)))
    await expect(client.fetchOHLCV('DOT/USDT', '1h')).rejects.toMatchObject({ name: 'BadSymbol' })
    const paths = lines.flatMap(line => /GET \/api\/v3\/(\w+)/.exec(line)?.[1] ?? line)
    expect(paths.filter(path => path !== 'klines')).toEqual(['exchangeInfo'])
  })

  it('comes whole to binance-api-node, and its errors do', async () => {
    const client = binance({ httpBase: (await start()).url })
    const series = { symbol: 'BTCUSDT', interval: '1h', limit: 1000 }
    const rows: Record<string, unknown>[] = []
    for (let startTime = 0; rows.length % 1000 === 0; startTime = Number(rows.at(-1)?.openTime) + 1)
      rows.push(...(await client.candles({ ...series, startTime })))
    // It leaves out the last, unused element.
    expect(rows.map(row => Object.values(row))).toEqual(sampleRows('BTCUSDT', '1h').map(row => row.slice(0, 11)))
    const unknown = client.candles({ ...series, symbol: 'NOPEUSDT' })
    await expect(unknown).rejects.toMatchObject({ code: -1121, message: 'Invalid symbol.' })
  })

  it('is downloaded by klines as the same windows, byte for byte', async () => {
    const baseUrl = `binance:${(await start()).url}`
    const mirror = join(tempFolder(), 'mirror')
    await downloadKlines({ symbols: ['BTCUSDT', 'ETHUSDT'], intervals: ['1h', '1d', '3d', '1M'], baseUrl, mirror })
    const windows = filesBelow(join(SAMPLE_TREE, 'api/klines')).filter(path => /^(1h|1d|3d|1M)\//.test(path))
    expect(windows.length).toBeGreaterThan(8)
    const read = (root: string, path: string) => readFileSync(join(root, 'api/klines', path), 'utf8')
    for (const path of windows) expect(read(mirror, path), path).toBe(read(SAMPLE_TREE, path))
    expect(await listSymbols({ baseUrl })).toEqual(['BTCUSDT', 'ETHUSDT'])
  })
})

describe('in front of the exchange', () => {
  const market = madeMarket(MADE_SYMBOLS)
  let time = EXCHANGE_NOW
  beforeEach(() => {
    time = EXCHANGE_NOW
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => time)
    return () => spy.mockRestore()
  })

  async function setup() {
    const { exchange, mirror, requests, dates } = await exchangeSetup(market)
    exchange.now = () => time
    const baseUrl = `binance:${exchange.url}`
    const upstream = () => openRun({ baseUrl, mirror }, { policy: NO_PAUSE })
    const server = await startTestServer(mirror, { source: baseUrl, now: () => time, upstream })
    onTestFinished(() => expect(exchange.violations).toEqual([]))
    const get = async (path: string, options = {}) => {
      const { status, headers, body } = await server.request(`/api/v3/${path}`, options)
      return { status, headers, value: JSON.parse(String(body)) }
    }
    return { exchange, requests, dates, get, url: server.url }
  }

  const closed = (symbol: string, interval: string) =>
    (market.rows(symbol, interval) ?? []).filter(row => row[6] + 15_000 < time)

  it('ccxt gets each closed candle; a window costs one request, and those before the first candle none', async () => {
    const { url, requests, dates } = await setup()
    const client = ccxtAt(url)
    const rows = toNumbers(closed('PEPEUSDT', '1d'))
    expect(await fetchAll(client, 'PEPE/USDT', '1d')).toEqual(rows)
    expect(requests()).toEqual(['2024-01-01', '2026-01-01', 'first candle', 'prices'])
    expect(dates('1d/PEPEUSDT')).toEqual(['2024-01-01', '2026-01-01'])
    expect(await fetchAll(client, 'PEPE/USDT', '1d')).toEqual(rows)
    expect(requests()).toEqual([])
    // One was delisted, and the other one has a hole of five months: all windows are final.
    for (const symbol of ['USDC/USDT', 'NAV/BTC'])
      expect(await fetchAll(client, symbol, '1h')).toEqual(toNumbers(closed(symbol.replace('/', ''), '1h')))
    requests()
    await fetchAll(client, 'USDC/USDT', '1h')
    expect(requests()).toEqual([])
    time += 86_400_000
    const newest = await client.fetchOHLCV('PEPE/USDT', '1d', undefined, 2)
    expect([newest, requests()]).toEqual([toNumbers(closed('PEPEUSDT', '1d').slice(-2)), ['2026-01-01']])
  })

  it('ten clients at once cost one request, and a page of another site none', async () => {
    const { exchange, requests, get } = await setup()
    const query = 'klines?symbol=BTCUSDT&interval=1h&startTime=1704067200000&limit=10'
    const other = { headers: { 'sec-fetch-site': 'cross-site' } }
    expect([(await get(query, other)).value.code, requests()]).toEqual([-1121, []])
    const { promise, resolve } = deferred()
    exchange.hold = () => promise
    const answers = Array.from({ length: 10 }, () => get(query))
    await get('ping')
    await turns()
    resolve()
    const rows = closed('BTCUSDT', '1h').filter(([openTime]) => openTime >= 1704067200000)
    for (const { value } of await Promise.all(answers)) expect(value).toEqual(rows.slice(0, 10))
    expect(requests()).toEqual(['2024-01-01', 'first candle', 'prices'])
    expect([(await get(query, other)).value, requests()]).toEqual([rows.slice(0, 10), []])
  })

  it('all names of the exchange are listed, asked for once an hour; an unknown one costs no request', async () => {
    const { exchange, requests, get } = await setup()
    const listed = (await get('exchangeInfo')).value.symbols.map(({ symbol }: { symbol: string }) => symbol)
    expect(listed.sort()).toEqual(Object.keys(MADE_SYMBOLS).sort())
    expect((await get('klines?symbol=NOPEUSDT&interval=1h')).value.code).toBe(-1121)
    expect(requests()).toEqual(['prices'])
    time += 3_600_000
    exchange.always('api/v3/ticker', { status: 500 })
    expect((await get('exchangeInfo')).value.code).toBe(-1001)
    const unknown = await get('klines?symbol=PEPEUSDT&interval=1h')
    expect([unknown.status, unknown.value.code]).toEqual([502, -1001])
  })
})
