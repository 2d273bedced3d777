import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { type SendRequest, startTestServer, useTestServer } from '../../support/servers/test-server.js'
import {
  candle,
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  putFile,
  RENDERED,
  weekPath,
  weekRows,
} from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const FOREVER = 'public, max-age=31536000, immutable'
const REVALIDATE = 'public, no-cache'
const DAY = 86_400_000
/** The end of the first full week. */
const END = Date.parse(FULL_WEEKS[1])
const [WEEK, LATER_WEEK] = FULL_WEEKS
const tree = useTestServer()

const readCacheControl = async (request: SendRequest, path: string, coding = 'identity') =>
  (await request(path, { headers: { 'accept-encoding': coding } })).headers['cache-control']

describe('Cache-Control', () => {
  it('a full window is immutable, in every coding', async () => {
    for (const startDate of FULL_WEEKS) {
      for (const coding of ['identity', 'gzip', 'br']) {
        expect(await readCacheControl(tree.request, weekPath('BTCUSDT', startDate), coding)).toBe(FOREVER)
      }
    }
  })

  it('an empty window before a later one with candles is immutable', async () => {
    expect(await readCacheControl(tree.request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(FOREVER)
  })

  it.each([
    ['an open window', weekPath('BTCUSDT', OPEN_WEEK)],
    ['a cached future window', weekPath('BTCUSDT', FUTURE_WEEK)],
    ['a missing future window', weekPath('DOTUSDT', FUTURE_WEEK)],
    ['the list of symbols', 'api/klines/symbols.json'],
    ['a cached list of start dates', 'api/klines/start-dates/15m.json'],
    ['a built-in list of start dates', 'api/klines/start-dates/1M.json'],
    ['the OpenAPI document', '/api/openapi.json'],
  ])('%s is revalidated each time', async (_, path) => {
    for (const coding of ['identity', 'gzip', 'br'])
      expect(await readCacheControl(tree.request, path, coding)).toBe(REVALIDATE)
  })

  it('a missing window of the bundled sample is revalidated each time', async () => {
    const { request } = await startTestServer(SAMPLE_TREE)
    expect(await readCacheControl(request, 'api/klines/15m/BTCUSDT/2025-05-05.json')).toBe(REVALIDATE)
  })

  it.each([
    ['a missing window', weekPath('DOTUSDT', WEEK), 404],
    ['an unknown path', '/api/klines/15m/BTCUSDT/2025-01-07.json', 404],
  ])('an error is not cached: %s', async (_, path, status) => {
    const response = await tree.request(path)
    expect([response.status, response.headers['cache-control']]).toEqual([status, 'no-store'])
  })

  it('is the same in 304 and 206 as in 200', async () => {
    for (const [path, expected] of [
      [weekPath('BTCUSDT', WEEK), FOREVER],
      [weekPath('BTCUSDT', OPEN_WEEK), REVALIDATE],
    ]) {
      const unmodified = await tree.request(path, { headers: { 'if-none-match': '*' } })
      const part = await tree.request(path, { headers: { range: 'bytes=0-9' } })
      expect([unmodified.status, unmodified.headers['cache-control']]).toEqual([304, expected])
      expect([part.status, part.headers['cache-control']]).toEqual([206, expected])
    }
  })
})

describe('a window is final', () => {
  const rows = weekRows(WEEK)
  const last = Date.parse(LATER_WEEK) - 900_000

  it.each<[string, unknown, number, boolean, string]>([
    ['with the last candle, at any modification time', rows, 0, false, FOREVER],
    ['not without the last candle', rows.slice(0, -1), END + DAY, false, REVALIDATE],
    ['not with the last but one', [...rows.slice(0, -1), candle(last - 900_000)], END + DAY, false, REVALIDATE],
    [
      'without it, modified a day after the end, when a later one has candles',
      rows.slice(1, -1),
      END + DAY,
      true,
      FOREVER,
    ],
    ['not modified earlier than that', rows.slice(1, -1), END + DAY - 1000, true, REVALIDATE],
    ['not when it is empty and nothing follows', [], END + DAY, false, REVALIDATE],
    ['when it is empty and a later one has candles', [], END + DAY, true, FOREVER],
  ])('%s', async (_, rows, mtime, later, expected) => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', WEEK), rows, mtime)
    putFile(root, weekPath('BTCUSDT', LATER_WEEK), later ? weekRows(LATER_WEEK).slice(0, 1) : [], RENDERED)
    putFile(root, weekPath('ETHUSDT', LATER_WEEK), weekRows(LATER_WEEK), RENDERED)
    const { request } = await startTestServer(root)
    expect(await readCacheControl(request, weekPath('BTCUSDT', WEEK))).toBe(expected)
  })

  it('as soon as a later one with candles appears', async () => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
    const { request } = await startTestServer(root)
    expect(await readCacheControl(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(REVALIDATE)
    putFile(root, weekPath('BTCUSDT', WEEK), rows)
    expect(await readCacheControl(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(FOREVER)
  })

  it('no longer when it is replaced by a version that is not', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    const path = weekPath('BTCUSDT', FULL_WEEKS[4])
    expect(await readCacheControl(request, path)).toBe(FOREVER)
    const inTime = Date.parse(OPEN_WEEK)
    putFile(root, path, weekRows(FULL_WEEKS[4], { days: 3 }), inTime)
    expect(await readCacheControl(request, path)).toBe(REVALIDATE)
  })

  it('not because of a later one that is corrupt or a folder', async () => {
    for (const later of ['[[1', 'folder']) {
      const root = tempFolder()
      putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
      if (later === 'folder') mkdirSync(join(root, weekPath('BTCUSDT', WEEK)), { recursive: true })
      else putFile(root, weekPath('BTCUSDT', WEEK), later)
      const { request } = await startTestServer(root)
      expect(await readCacheControl(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(REVALIDATE)
    }
  })
})
