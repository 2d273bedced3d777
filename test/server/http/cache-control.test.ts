import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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

const FOR_GOOD = 'public, max-age=31536000, immutable'
const EACH_TIME = 'public, no-cache'
const DAY = 86_400_000
/** The end of the first full week. */
const END = Date.parse(FULL_WEEKS[1])
const [WEEK, LATER_WEEK] = FULL_WEEKS
const tree = useTestServer()

const control = async (ask: SendRequest, path: string, coding = 'identity') =>
  (await ask(path, { headers: { 'accept-encoding': coding } })).headers['cache-control']

describe('Cache-Control', () => {
  it('of a window that is full is for good, in every coding', async () => {
    for (const startDate of FULL_WEEKS) {
      for (const coding of ['identity', 'gzip', 'br']) {
        expect(await control(tree.request, weekPath('BTCUSDT', startDate), coding)).toBe(FOR_GOOD)
      }
    }
  })

  it('of an empty one that a later one with candles follows is for good', async () => {
    expect(await control(tree.request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(FOR_GOOD)
  })

  it.each([
    ['an open window', weekPath('BTCUSDT', OPEN_WEEK)],
    ['a window of the future that is held', weekPath('BTCUSDT', FUTURE_WEEK)],
    ['a window of the future that is not', weekPath('DOTUSDT', FUTURE_WEEK)],
    ['the list of symbols', 'api/klines/symbols.json'],
    ['a list of start dates that is held', 'api/klines/start-dates/15m.json'],
    ['a list of start dates that is built in', 'api/klines/start-dates/1M.json'],
    ['the description', '/api/openapi.json'],
  ])('of %s: asked again each time', async (_, path) => {
    for (const coding of ['identity', 'gzip', 'br']) expect(await control(tree.request, path, coding)).toBe(EACH_TIME)
  })

  it('of an absent window of a complete mirror: asked again each time', async () => {
    const root = tempFolder()
    putFile(root, 'mirror.json', { layout: 1, baseUrl: 'http://example.com', complete: true })
    const { request } = await startTestServer(root)
    expect(await control(request, weekPath('BTCUSDT', WEEK))).toBe(EACH_TIME)
  })

  it.each([
    ['a window that is not there', weekPath('DOTUSDT', WEEK), 404],
    ['no path of the tree', '/api/klines/15m/BTCUSDT/2025-01-07.json', 404],
  ])('of an error keeps it from every cache: %s', async (_, path, status) => {
    const answer = await tree.request(path)
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store'])
  })

  it('is the same in 304 and 206 as in 200', async () => {
    for (const [path, expected] of [
      [weekPath('BTCUSDT', WEEK), FOR_GOOD],
      [weekPath('BTCUSDT', OPEN_WEEK), EACH_TIME],
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
    ['with the last candle, whenever it was rendered', rows, 0, false, FOR_GOOD],
    ['not without the last candle', rows.slice(0, -1), END + DAY, false, EACH_TIME],
    ['not with the last but one', [...rows.slice(0, -1), candle(last - 900_000)], END + DAY, false, EACH_TIME],
    [
      'without it, rendered a day after the end, when a later one has candles',
      rows.slice(1, -1),
      END + DAY,
      true,
      FOR_GOOD,
    ],
    ['not rendered earlier than that', rows.slice(1, -1), END + DAY - 1000, true, EACH_TIME],
    ['not when it is empty and nothing follows', [], END + DAY, false, EACH_TIME],
    ['when it is empty and a later one has candles', [], END + DAY, true, FOR_GOOD],
  ])('%s', async (_, held, mtime, later, expected) => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', WEEK), held, mtime)
    putFile(root, weekPath('BTCUSDT', LATER_WEEK), later ? weekRows(LATER_WEEK).slice(0, 1) : [], RENDERED)
    putFile(root, weekPath('ETHUSDT', LATER_WEEK), weekRows(LATER_WEEK), RENDERED)
    const { request } = await startTestServer(root)
    expect(await control(request, weekPath('BTCUSDT', WEEK))).toBe(expected)
  })

  it('from when a later one with candles comes, while the server runs', async () => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
    const { request } = await startTestServer(root)
    expect(await control(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(EACH_TIME)
    putFile(root, weekPath('BTCUSDT', WEEK), rows)
    expect(await control(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(FOR_GOOD)
  })

  it('no more when a version comes that is not', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    const path = weekPath('BTCUSDT', FULL_WEEKS[4])
    expect(await control(request, path)).toBe(FOR_GOOD)
    const inTime = Date.parse(OPEN_WEEK)
    putFile(root, path, weekRows(FULL_WEEKS[4], { days: 3 }), inTime)
    expect(await control(request, path)).toBe(EACH_TIME)
  })

  it('not by a later one that is broken, or is no file', async () => {
    for (const later of ['[[1', 'folder']) {
      const root = tempFolder()
      putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
      if (later === 'folder') mkdirSync(join(root, weekPath('BTCUSDT', WEEK)), { recursive: true })
      else putFile(root, weekPath('BTCUSDT', WEEK), later)
      const { request } = await startTestServer(root)
      expect(await control(request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(EACH_TIME)
    }
  })
})
