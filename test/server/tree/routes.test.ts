import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { filesBelow } from '../../support/files-below.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { startTestServer, type TestResponse, useServerOver } from '../../support/servers/test-server.js'
import { EMPTY_WEEK, FULL_WEEKS, FUTURE_WEEK, NOW, putFile, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

type Get = (path: string, headers?: Record<string, string>) => Promise<TestResponse>

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
    let get: Get
    beforeEach(async () => {
      const root = tempFolder()
      putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), '[]')
      const { request } = await startTestServer(root)
      get = (path, headers) => request(path, { headers })
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
      const since = { 'if-modified-since': new Date(NOW).toUTCString() }
      const { status, headers, body } = await get(`/${weekPath('ETHUSDT', FUTURE_WEEK)}`, since)
      expect([status, String(body), headers['last-modified']]).toEqual([200, '[]', undefined])
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
