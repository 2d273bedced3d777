import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { exportKlines } from '../../src/engine/export.js'
import { openRun } from '../../src/engine/run.js'
import { publishMirror } from '../../src/server/publish.js'
import { catchError } from '../support/errors.js'
import { onWarning } from '../support/events.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { indexTree } from '../support/index-tree.js'
import { PUBLISHED_INTERVALS, PUBLISHED_SYMBOLS, publishSetup } from '../support/published-mirror.js'
import { startTestServer } from '../support/servers/test-server.js'
import { snapshot } from '../support/snapshot.js'
import { makeTree, NOW, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const DAY = 86_400_000
/** When a window of 12h has begun that was published as an empty one. */
const LATER = Date.parse('2027-01-02')
const TODAY = new Date(EXCHANGE_NOW).toISOString().slice(0, 10)
const windowPath = (symbol: string, interval: string, date: string) => `api/klines/${interval}/${symbol}/${date}.json`

async function publishedSetup() {
  const setup = await publishSetup()
  await setup.download()
  setup.exchange.reset()
  const report = await setup.publish()
  return { ...setup, report }
}

describe('publishMirror', () => {
  it('writes a file for every listed window, and the lists, without a request', async () => {
    const { mirror, baseUrl, exchange, report, readJson } = await publishedSetup()
    let [windows, future] = [0, 0]
    for (const interval of PUBLISHED_INTERVALS) {
      const dates: string[] = readJson(`api/klines/start-dates/${interval}.json`)
      expect(dates.at(-1)).toMatch(/^203\d/)
      for (const symbol of PUBLISHED_SYMBOLS) {
        for (const date of dates) {
          const rows = readJson(windowPath(symbol, interval, date))
          windows++
          if (date > TODAY) {
            expect(rows).toEqual([])
            future++
          }
        }
        expect(readJson(windowPath(symbol, interval, '2026-01-01'))).not.toEqual([])
      }
    }
    expect(report).toEqual({
      mirror,
      baseUrl,
      symbols: PUBLISHED_SYMBOLS,
      intervals: [...PUBLISHED_INTERVALS],
      windows,
      emptyWritten: future,
      listsWritten: 3,
    })
    expect(readJson('api/klines/symbols.json')).toEqual(PUBLISHED_SYMBOLS)
    expect(readJson('mirror.json')).toEqual({ baseUrl })
    expect(exchange.log).toEqual([])
  })

  it('writes lists that are missing, in compact JSON and in the order of symbols', async () => {
    const { mirror, download, publish, readJson } = await publishSetup()
    await download({ symbols: ['PEPEUSDT', 'BTCEUR', 'BTCUSDT'], intervals: ['1d'] })
    expect(await publish()).toMatchObject({ listsWritten: 2 })
    expect(readFileSync(join(mirror, 'api/klines/symbols.json'), 'utf8')).toBe('["BTCUSDT","BTCEUR","PEPEUSDT"]')
    const dates = Array.from({ length: 12 }, (_, index) => `${2016 + 2 * index}-01-01`)
    expect(readJson('api/klines/start-dates/1d.json')).toEqual(dates)
    const list = join(mirror, 'api/klines/start-dates/1d.json')
    expect(readFileSync(list, 'utf8')).toBe(JSON.stringify(dates))
    // A corrupt one too.
    writeFileSync(list, '["2016-01-01"')
    expect(await publish()).toMatchObject({ listsWritten: 1 })
    expect(readFileSync(list, 'utf8')).toBe(JSON.stringify(dates))
  })

  it('names windows that are missing, corrupt or end before later candles, and changes nothing', async () => {
    const { mirror, download, publish, exchange } = await publishSetup()
    await download()
    exchange.reset()
    const file = (symbol: string, date: string) => join(mirror, windowPath(symbol, '12h', date))
    rmSync(file('BTCUSDT', '2025-01-01'))
    truncateSync(file('BTCUSDT', '2024-01-01'), 500)
    // Not as it was downloaded, and shorter than the year.
    putFile(mirror, windowPath('PEPEUSDT', '12h', '2025-01-01'), [])
    writeFileSync(file('PEPEUSDT', '2030-01-01'), '')
    const before = snapshot(mirror)
    const error = await catchError(publish())
    if (!isKlinesError(error, 'incomplete')) throw error
    const named = (error.data.failures ?? []).map(
      ({ symbol, startDate, reason }) => `${symbol} ${startDate} ${reason.split(':')[0]}`,
    )
    expect(named.sort()).toEqual([
      'BTCUSDT 2024-01-01 corrupt in the mirror',
      'BTCUSDT 2025-01-01 not in the mirror',
      'PEPEUSDT 2025-01-01 does not reach its end, and later candles are there',
      'PEPEUSDT 2030-01-01 corrupt in the mirror',
    ])
    expect(error.message).toMatch(/^4 of \d+ windows are missing or corrupt:\n/)
    expect(snapshot(mirror)).toEqual(before)
    expect(exchange.log).toEqual([])
  })

  it('refuses a tree without a source, a mirror without windows and another source', async () => {
    const { mirror, download, publish } = await publishSetup()
    await download()
    expect(await catchError(publish({ baseUrl: 'binance' }))).toMatchObject({ code: 'mirror_mismatch' })
    const bare = makeTree(tempFolder())
    const before = snapshot(bare)
    expect(await catchError(publishMirror({ mirror: bare, now: NOW }))).toMatchObject({ code: 'mirror_mismatch' })
    expect(snapshot(bare)).toEqual(before)
    const missing = publishMirror({ mirror: join(bare, 'none'), now: NOW })
    expect(await catchError(missing)).toMatchObject({ code: 'window_missing' })
    putFile(mirror, 'x/mirror.json', { baseUrl: 'http://example.com' })
    expect(await catchError(publishMirror({ mirror: join(mirror, 'x') }))).toMatchObject({ code: 'window_missing' })
  })
})

describe('windows before the first candle that the mirror lacks', () => {
  async function withoutLeading() {
    const setup = await publishSetup()
    // PEPEUSDT begins in May 2025.
    await setup.download({ from: '2025-05-05' })
    expect(existsSync(join(setup.mirror, windowPath('PEPEUSDT', '12h', '2024-01-01')))).toBe(false)
    setup.exchange.reset()
    return setup
  }

  it('become empty when the exchange says so, with a request a series', async () => {
    const { mirror, download, publish, exchange, readJson } = await withoutLeading()
    // BTCUSDT begins in November 2023.
    await download({ symbols: ['BTCUSDT'], from: '2023-11-20' })
    exchange.reset()
    const sent: number[] = []
    await publish({ onEvent: event => event.type === 'network' && sent.push(event.requests) })
    expect(Math.max(...sent)).toBe(4)
    const requests = exchange.log.map(({ symbol, interval, startTime, limit }) => [symbol, interval, startTime, limit])
    expect(requests.sort()).toEqual([
      ['BTCUSDT', '12h', 0, 1],
      ['BTCUSDT', '1d', 0, 1],
      ['PEPEUSDT', '12h', 0, 1],
      ['PEPEUSDT', '1d', 0, 1],
    ])
    expect(readJson(windowPath('PEPEUSDT', '12h', '2024-01-01'))).toEqual([])
    expect(readJson(windowPath('BTCUSDT', '12h', '2022-01-01'))).toEqual([])
    expect(readJson(windowPath('BTCUSDT', '12h', '2023-01-01'))).not.toEqual([])
    expect(statSync(join(mirror, windowPath('BTCUSDT', '12h', '2022-01-01'))).mtimeMs).toBe(EXCHANGE_NOW)
    expect(await publish()).toMatchObject({ emptyWritten: 0 })
  })

  it('are missing when they end after it', async () => {
    const { mirror, publish, exchange } = await withoutLeading()
    const before = snapshot(mirror)
    const error = await catchError(publish())
    // 12h: 2023 and 2024; 1d: from 2022 on, a window of two years.
    expect(error.message).toMatch(
      /\n\d x not in the mirror \(BTCUSDT 12h 2023-01-01, BTCUSDT 12h 2024-01-01, BTCUSDT 1d 2022-01-01\)/,
    )
    // The first candle of each series.
    expect(exchange.log).toHaveLength(4)
    expect(snapshot(mirror)).toEqual(before)
  })

  it.each([
    ['is gone', 'unreachable', /connection refused/],
    ['bans us', 'rate_limited', /this address is banned until/],
  ])('are missing when the exchange %s, after one request', async (fault, code, reason) => {
    const { mirror, publish, exchange } = await withoutLeading()
    if (fault === 'is gone') await exchange.stop()
    else exchange.always('api/v3/klines', { status: 418, headers: { 'retry-after': '120' }, body: '' })
    const before = snapshot(mirror)
    const error = await catchError(publish())
    expect(error).toMatchObject({ code, message: expect.stringMatching(reason) })
    expect(exchange.log.length).toBeLessThanOrEqual(1)
    expect(snapshot(mirror)).toEqual(before)
  })
})

it('a window that begins after it was published is open: a client asks for it again, and so does the next download', async () => {
  const { mirror, download, publish, exchange, readJson } = await publishedSetup()
  const file = windowPath('BTCUSDT', '12h', '2027-01-01')
  exchange.now = LATER
  // Candles of the market end in June 2026.
  await publish({ now: LATER })
  expect(readJson(file)).toEqual([])
  expect(statSync(join(mirror, file)).mtimeMs).toBeLessThan(Date.parse('2028-01-01'))
  exchange.reset()
  await download({ now: LATER })
  const requested = exchange.log.filter(({ limit }) => limit === 1000).map(({ startTime = 0 }) => startTime)
  expect(requested).toContain(Date.parse('2027-01-01'))
  expect(await publish({ now: LATER + DAY })).toMatchObject({ emptyWritten: 0, listsWritten: 0 })
})

it('a window that is open, though it was rendered late, is not final for those who download the tree or ask a server', async () => {
  const [mirror, path] = [tempFolder(), weekPath('BTCUSDT', '2025-01-06')]
  putFile(mirror, 'api/klines/start-dates/15m.json', ['2025-01-06'])
  putFile(mirror, path, weekRows('2025-01-06', { days: 4 }))
  indexTree(mirror, { rendered: Date.parse('2025-01-16') })
  const { headers } = await (await startTestServer(mirror)).request(path)
  expect(headers['last-modified']).toBe('Mon, 13 Jan 2025 23:59:59 GMT')
  await publishMirror({ mirror, now: NOW })
  expect(statSync(join(mirror, path)).mtimeMs).toBe(Date.parse('2025-01-13T23:59:59Z'))
})

it('a server with a published mirror never requests a window of the future, also one that has a file', async () => {
  const { mirror, baseUrl, exchange } = await publishedSetup()
  const { request } = await startTestServer(mirror, {
    now: () => EXCHANGE_NOW,
    upstream: () => openRun({ baseUrl, mirror, now: EXCHANGE_NOW }),
  })
  const { status, body } = await request(windowPath('BTCUSDT', '12h', '2027-01-01'))
  expect([status, String(body)]).toEqual([200, '[]'])
  expect(exchange.log).toEqual([])
})

describe('reading a published mirror later, offline', () => {
  const NOTE = /^12h candles end 2026-04-29 12:00, 247 days ago; klines update fetches newer ones\.$/

  it('has a note about windows that have begun since, unless the range has an end', async () => {
    const { mirror } = await publishedSetup()
    const read = async (now: number, range: { to?: string } = {}) => {
      const warnings: string[] = []
      const output = join(mirror, '..', 'x.csv')
      const request = { symbols: ['BTCUSDT'], intervals: ['12h'] as const, offline: true, force: true, output }
      await exportKlines({ ...request, ...range, mirror, now, onEvent: onWarning(text => warnings.push(text)) })
      expect(readFileSync(output, 'utf8')).toContain('\n')
      return warnings
    }
    expect(await read(EXCHANGE_NOW)).toEqual([])
    expect(await read(LATER)).toEqual([expect.stringMatching(NOTE)])
    // The report says what is missing before an end that is named.
    expect(await read(LATER, { to: '2027-01-01' })).toEqual([])
    expect(await read(LATER, { to: '2026-01-01' })).toEqual([])
  })
})
