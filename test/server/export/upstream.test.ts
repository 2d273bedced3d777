import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openRun } from '../../../src/engine/run.js'
import { deferred, turns } from '../../support/deferred.js'
import { MADE_SYMBOLS, madeMarket } from '../../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../../support/exchange/market.js'
import { type ErrorBody, expectError } from '../../support/servers/error-response.js'
import { ExchangeServer } from '../../support/servers/exchange-server.js'
import { exportedFile } from '../../support/servers/export-checks.js'
import { sendRaw } from '../../support/servers/raw-client.js'
import { parseErrorObject, startTestServer } from '../../support/servers/test-server.js'
import { NO_PAUSE, serveUpstream, upstreamSetup } from '../../support/servers/upstream-setup.js'
import {
  FULL_WEEKS,
  NOW,
  OPEN_WEEK,
  putFile,
  STARTED,
  weekPath,
  weekRows,
  windowBytes,
} from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = '/export/15m/BTCUSDT.csv'
const LIST = 'api/klines/start-dates/15m.json'
const WINDOWS = STARTED.map(date => weekPath('BTCUSDT', date))
const get = (url: string, target = PATH) => sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
const readLog = (service: { log: readonly { path: string }[] }) => service.log.map(({ path }) => path).sort()

describe('a server with a service behind it', () => {
  it('downloads every window of the range first, each with one request, and then only what can still change', async () => {
    const { request, service, tree, mirror } = await upstreamSetup()
    const first = await request(PATH)
    const expected = await exportedFile(tree, ['BTCUSDT', '15m', 'csv'])
    expect([first.status, first.body.equals(expected), first.headers.warning]).toEqual([200, true, undefined])
    expect(readLog(service)).toEqual([...WINDOWS, LIST].sort())
    // The mirror has what the library would have downloaded.
    for (const extension of ['json', 'parquet', 'arrow']) {
      const { body } = await request(`/export/15m/BTCUSDT.${extension}`)
      expect(body.equals(await exportedFile(mirror, ['BTCUSDT', '15m', extension])), extension).toBe(true)
    }
    service.reset()
    for (const method of ['HEAD', 'GET']) expect((await request(PATH, { method })).status).toBe(200)
    // For each of the two, the window that can still change and its empty neighbour are revalidated.
    expect(
      readLog(service).filter(path => path !== LIST && !path.includes(OPEN_WEEK) && !path.includes(STARTED[0])),
    ).toEqual([])
  })

  it('downloads what a range needs and no more', async () => {
    const { request, service } = await upstreamSetup()
    const target = `${PATH}?from=${FULL_WEEKS[1]}&to=${FULL_WEEKS[3]}`
    expect((await request(target)).status).toBe(200)
    expect(readLog(service)).toEqual([...FULL_WEEKS.slice(1, 3).map(date => weekPath('BTCUSDT', date)), LIST].sort())
  })

  it('sends one request a file for several exports at once', async () => {
    const { requestAtOnce, service } = await upstreamSetup()
    const responses = await requestAtOnce(4, PATH)
    for (const { status, body } of responses) expect([status, body.equals(responses[0].body)]).toEqual([200, true])
    const log = readLog(service).filter(path => path !== LIST)
    expect(log.filter(path => !path.includes(OPEN_WEEK) && !path.includes(STARTED[0]))).toEqual(
      FULL_WEEKS.map(date => weekPath('BTCUSDT', date)),
    )
  })

  it('begins with the first window that the service has', async () => {
    const { request, tree } = await upstreamSetup()
    for (const date of STARTED.slice(0, 3)) rmSync(join(tree, weekPath('BTCUSDT', date)))
    const { status, body } = await request(PATH)
    expect([status, body.equals(await exportedFile(tree, ['BTCUSDT', '15m', 'csv']))]).toEqual([200, true])
    const { headers } = await request(`${PATH}?from=${FULL_WEEKS[0]}`)
    expect(headers.warning).toContain('1,344 short at the start')
  })

  it('records a change once, however many clients of the tree and of exports wait for the window', async () => {
    const { request, service, tree, mirror } = await upstreamSetup()
    const target = `${PATH}?from=${OPEN_WEEK}`
    await request(target)
    const window = weekPath('BTCUSDT', OPEN_WEEK)
    const rows = weekRows(OPEN_WEEK)
    rows[0][4] = '7.77'
    putFile(tree, window, windowBytes(rows))
    utimesSync(join(tree, window), NOW / 1000, NOW / 1000)
    service.date = NOW + 3_600_000
    const { promise, resolve } = deferred()
    service.hold = path => (path === window ? promise : undefined)
    const all = [window, target, `${target}&limit=1`, `/export/15m/BTCUSDT.parquet?from=${OPEN_WEEK}`]
    const responses = all.map(path => request(path))
    await request('/api/openapi.json')
    await turns()
    resolve()
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(all.map(() => 200))
    const changes = readFileSync(join(mirror, 'changes.jsonl'), 'utf8').trimEnd().split('\n')
    expect(changes.map(line => JSON.parse(line))).toMatchObject([{ startDate: OPEN_WEEK, after: '7.77' }])
  })

  it('whose mirror cannot be written: exports come from memory, with the same candles', async () => {
    const { tree, baseUrl } = await upstreamSetup()
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    const { request } = await serveUpstream(baseUrl, join(file, 'mirror'))
    const { status, body } = await request(PATH)
    expect([status, body.equals(await exportedFile(tree, ['BTCUSDT', '15m', 'csv']))]).toEqual([200, true])
    const part = await request(PATH, { headers: { range: 'bytes=10-19' } })
    expect([part.status, part.body.equals(body.subarray(10, 20))]).toEqual([206, true])
  })

  it('says 404 for a symbol that the service does not have, with the nearest one', async () => {
    const { url } = await upstreamSetup()
    expect(expectError(await get(url, '/export/15m/BTCUSD.csv'), 404).message).toContain('Did you mean BTCUSDT?')
  })
})

describe('a service that fails', () => {
  it('down: what is final is exported, anything else is 502', async () => {
    const { request, service } = await upstreamSetup()
    const final = `${PATH}?from=${FULL_WEEKS[0]}&to=${FULL_WEEKS[2]}`
    const { body } = await request(final)
    await service.stop()
    const cached = await request(final)
    expect([cached.status, cached.body.equals(body)]).toEqual([200, true])
    const response = await request(PATH)
    const error = parseErrorObject(response) as ErrorBody
    expect([response.status, error.statusCode]).toEqual([502, 502])
    expect(error.message).toMatch(/^The service behind this server failed: connection refused/)
  })

  it('that limits requests: 503 with its Retry-After', async () => {
    const { url, service } = await upstreamSetup()
    service.always(WINDOWS[2], { status: 429, headers: { 'retry-after': '30' } })
    const response = await get(url)
    expectError(response, 503)
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(20)
    service.reset()
    expectError(await get(url), 503)
    // Windows that were under way may still come.
    expect(readLog(service)).not.toContain(LIST)
  })

  it('too slow: 504, and the windows are named', async () => {
    const { url, service } = await upstreamSetup({ policy: { ...NO_PAUSE, attemptMs: 1_500 } })
    service.hold = path => (path.includes(FULL_WEEKS[0]) ? new Promise(() => {}) : undefined)
    const error = expectError(await get(url, `${PATH}?from=${FULL_WEEKS[0]}&to=${FULL_WEEKS[1]}`), 504)
    expect(error.cause).toEqual([expect.objectContaining({ startDate: FULL_WEEKS[0] })])
  })
})

describe('the exchange behind a server', () => {
  it('sends the windows of any of its symbols, each with one request a candle', async () => {
    const mirror = join(tempFolder(), 'mirror')
    const exchange = await ExchangeServer.start(madeMarket(MADE_SYMBOLS))
    exchange.now = () => EXCHANGE_NOW
    const baseUrl = `binance:${exchange.url}`
    const now = EXCHANGE_NOW
    const { request, url } = await startTestServer(mirror, {
      source: baseUrl,
      now: () => now,
      upstream: () => openRun({ baseUrl, mirror, now }, { policy: NO_PAUSE }),
    })
    const symbol = Object.keys(MADE_SYMBOLS).find(name => name !== 'BTCUSDT') as string
    for (const target of [`1d/${symbol}.csv`, `1h/${symbol}.parquet?last=60d`, `1d/${symbol}.csv?resample=2d`]) {
      const { status, body } = await request(`/export/${target}`)
      expect([target, status, String(status === 200 ? '' : body)]).toEqual([target, 200, ''])
    }
    const { body } = await request(`/export/1d/${symbol}.csv`)
    expect(body.equals(await exportedFile(mirror, [symbol, '1d', 'csv'], { now, baseUrl }))).toBe(true)
    exchange.reset()
    expect((await request(`/export/1d/${symbol}.csv`)).body.equals(body)).toBe(true)
    // The clock of the exchange may be asked; the open window has no new candle.
    expect(exchange.log.filter(({ kind }) => kind === 'klines')).toEqual([])
    expectError(await get(url, '/export/1d/NOSUCHUSDT.csv'), 404)
    expect(exchange.violations).toEqual([])
  })
})
