import { describe, expect, it } from 'vitest'
import { indexTree } from '../../support/index-tree.js'
import { type SendRequest, startTestServer, useTestServer } from '../../support/servers/test-server.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  OPEN_WEEK,
  putFile,
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
      expect(await readCacheControl(tree.request, weekPath('BTCUSDT', startDate), 'gzip')).toBe(FOREVER)
    }
  })

  it('an empty window before a later one with candles is immutable', async () => {
    expect(await readCacheControl(tree.request, weekPath('BTCUSDT', EMPTY_WEEK))).toBe(FOREVER)
  })

  it.each([
    ['an open window', weekPath('BTCUSDT', OPEN_WEEK)],
    ['a cached future window', weekPath('BTCUSDT', FUTURE_WEEK)],
    ['the list of symbols', 'api/klines/symbols.json'],
    ['a cached list of start dates', 'api/klines/start-dates/15m.json'],
    ['the OpenAPI document', '/api/openapi.json'],
  ])('%s is revalidated each time', async (_, path) => {
    expect(await readCacheControl(tree.request, path)).toBe(REVALIDATE)
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
  const later = weekRows(LATER_WEEK).slice(0, 1)
  const path = weekPath('BTCUSDT', WEEK)

  it.each<[string, unknown, number, boolean, string]>([
    ['with the last candle, whenever it was rendered', rows, 0, false, FOREVER],
    ['not without the last candle', rows.slice(0, -1), END + DAY, false, REVALIDATE],
    [
      'without it, rendered a day after the end, when a later one has candles',
      rows.slice(1, -1),
      END + DAY,
      true,
      FOREVER,
    ],
    ['not rendered earlier than that', rows.slice(1, -1), END + DAY - 1000, true, REVALIDATE],
    ['not when it is empty and nothing follows', [], END + DAY, false, REVALIDATE],
    ['when it is empty and a later one has candles', [], END + DAY, true, FOREVER],
  ])('%s', async (_, rows, rendered, isFollowed, expected) => {
    const root = tempFolder()
    putFile(root, path, rows)
    putFile(root, weekPath('BTCUSDT', LATER_WEEK), isFollowed ? later : [])
    putFile(root, weekPath('ETHUSDT', LATER_WEEK), weekRows(LATER_WEEK))
    const { request } = await startTestServer(indexTree(root, { rendered }))
    expect(await readCacheControl(request, path)).toBe(expected)
  })

  it('and Last-Modified is what another process has noted meanwhile', async () => {
    const root = tempFolder()
    putFile(root, path, rows.slice(0, -1))
    const { request } = await startTestServer(indexTree(root, { rendered: END - 9_000 }))
    for (const rendered of [END - 9_000, END - 5_000]) {
      indexTree(root, { rendered })
      expect((await request(path)).headers['last-modified']).toBe(new Date(rendered).toUTCString())
    }
  })

  it('without its last candle in a copy without an index: not at all', async () => {
    const root = tempFolder()
    putFile(root, path, rows.slice(1, -1), END + DAY)
    putFile(root, weekPath('BTCUSDT', LATER_WEEK), later)
    const { request } = await startTestServer(root)
    const { headers } = await request(path)
    expect(headers['cache-control']).toBe(REVALIDATE)
    // The close of its last candle, never the time of the file.
    const [lastTime] = rows[rows.length - 2]
    expect(headers['last-modified']).toBe(new Date(lastTime + 900_000).toUTCString())
  })
})
