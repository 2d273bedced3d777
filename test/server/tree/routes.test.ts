import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { filesBelow } from '../../support/files-below.js'
import { indexTree } from '../../support/index-tree.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { startTestServer, type TestResponse, useServerOver } from '../../support/servers/test-server.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  NOW,
  putFile,
  RENDERED,
  weekPath,
} from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

type Get = (path: string, headers?: Record<string, string>) => Promise<TestResponse>

/** Starts a server over a folder for one test. */
async function serveFolder(root: string): Promise<Get> {
  const { request } = await startTestServer(root)
  return (path, headers) => request(path, { headers })
}

/** Expects exactly the service's error object. */
function expectNotFound({ status, headers, body }: TestResponse): void {
  expect(status).toBe(404)
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(JSON.parse(String(body))).toEqual({ statusCode: 404, message: expect.any(String), isError: true })
}

describe('the tree over HTTP', () => {
  const sample = useServerOver(() => SAMPLE_TREE)
  const getSample: Get = (path, headers) => sample.request(path, { headers })

  it('returns every window and start-dates list of the sample byte by byte', async () => {
    const files = filesBelow(join(SAMPLE_TREE, 'api')).filter(file => file !== 'klines/symbols.json')
    expect(files.length).toBeGreaterThan(50)
    for (const file of files) {
      const { status, headers, body } = await getSample(`/api/${file}`)
      expect([status, headers['content-type']], file).toEqual([200, 'application/json; charset=utf-8'])
      expect(body.equals(readFileSync(join(SAMPLE_TREE, 'api', file))), file).toBe(true)
    }
  })

  describe('of an incomplete mirror', () => {
    let root: string
    let get: Get
    beforeEach(async () => {
      root = tempFolder()
      putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), '[]')
      get = await serveFolder(root)
    })

    it('has the symbols of the mirror, and built-in start dates where the mirror has none', async () => {
      const symbols = await get('/api/klines/symbols.json')
      expect([symbols.status, String(symbols.body)]).toEqual([200, '["BTCUSDT"]'])
      for (const name of filesBelow(join(SAMPLE_TREE, 'api/klines/start-dates'))) {
        const list = await get(`/api/klines/start-dates/${name}`)
        expect([list.status, String(list.body)]).toEqual([
          200,
          readFileSync(join(SAMPLE_TREE, 'api/klines/start-dates', name), 'utf8'),
        ])
      }
    })

    it('returns [] for a window of the future, and never for one that has started', async () => {
      const future = await get(`/${weekPath('ETHUSDT', FUTURE_WEEK)}`)
      expect([future.status, String(future.body)]).toEqual([200, '[]'])
      expectNotFound(await get(`/${weekPath('ETHUSDT', '2025-02-10')}`))
      expectNotFound(await get(`/${weekPath('ETHUSDT', EMPTY_WEEK)}`))
    })
  })

  it.each([
    '15m/BTCUSDT/2025-01-07',
    '15m/DOTUSDT/2025-01-06',
    '15m/BTCUSDT/2025-02-30',
    '1m/BTCUSDT/2025-01-06',
    '15m/btcusdt/2025-01-06',
    'start-dates/5m',
    'symbols.json',
    'constructor/BTCUSDT/2025-01-06',
  ])('%s is 404, also of the sample', async name => {
    expectNotFound(await getSample(`/api/klines/${name}.json`))
  })
})

describe('conditional requests', () => {
  const path = `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`
  const modifiedSince = (time: number) => ({ 'if-modified-since': new Date(time).toUTCString() })
  let get: Get
  beforeEach(async () => {
    get = await serveFolder(indexTree(makeTree(tempFolder()), { rendered: RENDERED }))
  })

  it('Last-Modified is the time at which the service rendered the window', async () => {
    expect((await get(path)).headers['last-modified']).toBe(new Date(RENDERED).toUTCString())
  })

  it('a replaced file is sent', async () => {
    const root = makeTree(tempFolder())
    const getFrom = await serveFolder(root)
    const { etag = '' } = (await getFrom(path)).headers
    expect((await getFrom(path, { 'if-none-match': etag })).status).toBe(304)
    putFile(root, path.slice(1), '[]', RENDERED + 5000)
    const response = await getFrom(path, { 'if-none-match': etag })
    expect([response.status, String(response.body)]).toEqual([200, '[]'])
  })

  it('a window without a file has no Last-Modified', async () => {
    const getFrom = await serveFolder(tempFolder())
    const { status, headers } = await getFrom(`/${weekPath('BTCUSDT', FUTURE_WEEK)}`, modifiedSince(NOW))
    expect([status, headers['last-modified']]).toEqual([200, undefined])
  })
})
