import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { PROJECT } from '../../support/cli/cli-sandbox.js'
import { filesBelow } from '../../support/files-below.js'
import { indexTree } from '../../support/index-tree.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { rawRequest, sendRaw } from '../../support/servers/raw-client.js'
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

  it('returns every file of the sample byte by byte', async () => {
    const files = filesBelow(join(SAMPLE_TREE, 'api'))
    expect(files.length).toBeGreaterThan(50)
    for (const file of files) {
      const { status, headers, body } = await getSample(`/api/${file}`)
      expect([status, headers['content-type']], file).toEqual([200, 'application/json; charset=utf-8'])
      expect(body.equals(readFileSync(join(SAMPLE_TREE, 'api', file))), file).toBe(true)
    }
  })

  it('follows no dots of a target', async () => {
    const getStatus = async (path: string) => (await sendRaw(sample.url(), rawRequest(`GET ${path}`))).status
    expect(await getStatus('/api/klines/symbols.json')).toBe(200)
    for (const dots of ['..', '%2e%2e', '.']) {
      expect(await getStatus(`/api/klines/15m/${dots}/symbols.json`)).toBe(404)
      expect(await getStatus(`/api/klines/${dots}/klines/symbols.json`)).toBe(404)
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

    it('has built-in lists where the mirror has none', async () => {
      const symbols = await get('/api/klines/symbols.json')
      const documented =
        '["BTCUSDT","ETHUSDT","BNBUSDT","SOLUSDT","XRPUSDT","ADAUSDT","DOGEUSDT","AVAXUSDT","LINKUSDT","DOTUSDT"]'
      expect([symbols.status, String(symbols.body)]).toEqual([200, documented])
      for (const name of filesBelow(join(SAMPLE_TREE, 'api/klines/start-dates'))) {
        const list = await get(`/api/klines/start-dates/${name}`)
        expect([list.status, String(list.body)]).toEqual([
          200,
          readFileSync(join(SAMPLE_TREE, 'api/klines/start-dates', name), 'utf8'),
        ])
      }
    })

    it('returns the lists of the mirror', async () => {
      putFile(root, 'api/klines/symbols.json', '["BTCUSDT"]')
      putFile(root, 'api/klines/start-dates/15m.json', '["2025-01-06"]')
      expect(String((await get('/api/klines/symbols.json')).body)).toBe('["BTCUSDT"]')
      expect(String((await get('/api/klines/start-dates/15m.json')).body)).toBe('["2025-01-06"]')
    })

    it('returns [] for a window of the future, and never for one that has started', async () => {
      const future = await get(`/${weekPath('ETHUSDT', FUTURE_WEEK)}`)
      expect([future.status, String(future.body)]).toEqual([200, '[]'])
      expectNotFound(await get(`/${weekPath('ETHUSDT', '2025-02-10')}`))
      expectNotFound(await get(`/${weekPath('ETHUSDT', EMPTY_WEEK)}`))
    })

    it('explains that a window is missing', async () => {
      const { body } = await get(`/${weekPath('BTCUSDT', FULL_WEEKS[1])}`)
      expect(JSON.parse(String(body))).toEqual({
        statusCode: 404,
        message: 'This window is not in the mirror.',
        isError: true,
      })
    })

    it('returns 404 for a folder instead of a window', async () => {
      putFile(root, `${weekPath('BTCUSDT', FULL_WEEKS[1])}/inside`, 'x')
      expectNotFound(await get(`/${weekPath('BTCUSDT', FULL_WEEKS[1])}`))
    })
  })

  it('of the sample returns [] for every missing window', async () => {
    for (const window of ['15m/BTCUSDT/2025-05-05', '1h/BTCUSDT/2022-01-01', '1M/ETHUSDT/2030-01-01']) {
      const { status, body } = await getSample(`/api/klines/${window}.json`)
      expect([window, status, String(body)]).toEqual([window, 200, '[]'])
    }
  })

  it.each([
    '15m/BTCUSDT/2025-01-07',
    '15m/DOTUSDT/2025-01-06',
    '15m/BTCUSDT/2025-02-30',
    '1h/BTCUSDT/2025-01-02',
    '1m/BTCUSDT/2025-01-06',
    '15m/btcusdt/2025-01-06',
    '15m/XXXUSDT/2025-01-06',
    '1M/BTCUSDT/2010-01-02',
    'start-dates/5m',
    'start-dates/1m',
    'symbols.json',
    'constructor/BTCUSDT/2025-01-06',
  ])('%s is 404, also of the sample', async name => {
    expectNotFound(await getSample(`/api/klines/${name}.json`))
  })
})

describe('paths that try to leave the tree', () => {
  const SECRET = 'not to be seen'
  const up = (count: number, step: string) => step.repeat(count)

  const folder = mkdtempSync(join(tmpdir(), 'klines-secrets-'))
  const { request } = useServerOver(makeTreeWithSecrets)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** The synthetic tree with secret files in and around it. */
  function makeTreeWithSecrets(): string {
    const root = makeTree(join(folder, 'tree'))
    for (const name of ['mirror.json', 'api/secret.json', '../secret.json', '../package.json']) {
      writeFileSync(join(root, name), JSON.stringify({ layout: 1, baseUrl: SECRET }))
    }
    return root
  }

  it.each([
    '/api/klines/../../package.json',
    '/api/klines/../../mirror.json',
    '/api/klines/../secret.json',
    '/api/klines/%2e%2e/%2e%2e/mirror.json',
    '/api/klines/%2E%2E/secret.json',
    '/api/klines/..%2f..%2fmirror.json',
    '/api/klines/..%2fsecret.json',
    '/api/klines/..%5c..%5cmirror.json',
    '/api/klines/..\\..\\mirror.json',
    '/api/klines/%252e%252e%252fmirror.json',
    '/api/klines/15m/../../../mirror.json',
    '/api/klines/15m/BTCUSDT/../../symbols.json',
    '/api/klines/15m/BTCUSDT/%2e%2e%2f%2e%2e%2fsymbols.json',
    '/api/klines/15m/BTCUSDT/2025-01-06.json%00',
    '/api/klines/15m/BTCUSDT/2025-01-06.json%00.html',
    '/api/klines/15m/BTCUSDT%002025-01-06.json',
    '/api/klines//symbols.json',
    '//api/klines/symbols.json',
    '/api//klines/symbols.json',
    '/api/klines/15m//BTCUSDT/2025-01-06.json',
    '/api/klines/./symbols.json',
    '/api/klines/symbols.json/',
    '/api/klines/SYMBOLS.JSON',
    '/api/klines/symbols%2ejson%20',
    '/api/klines/',
    '/api/klines',
    '/mirror.json',
    '/secret.json',
    `/api/klines/${up(12, '../')}etc/passwd`,
    `/api/klines/${up(12, '%2e%2e/')}etc/passwd`,
    `${PROJECT}/package.json`,
  ])('%s is 404', async path => {
    const response = await request(path)
    expect(String(response.body)).not.toContain(SECRET)
    expectNotFound(response)
  })

  it.each(['%', '%zz', '%c0%ae%c0%ae/secret.json', '15m/BTCUSDT/%'])(
    '/api/klines/%s is malformed: 400 with the error object',
    async path => {
      const { status, body } = await request(`/api/klines/${path}`)
      expect(status).toBe(400)
      expect(JSON.parse(String(body))).toEqual({ statusCode: 400, message: expect.any(String), isError: true })
    },
  )
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

  it.each([
    ['the same time', modifiedSince(RENDERED), 304],
    ['a later time', modifiedSince(RENDERED + 1000), 304],
    ['an earlier time', modifiedSince(RENDERED - 1000), 200],
    ['no date', { 'if-modified-since': 'yesterday' }, 200],
  ])('If-Modified-Since %s', async (_, headers, status) => {
    const response = await get(path, headers)
    expect(response.status).toBe(status)
    expect(response.body.length === 0).toBe(status === 304)
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
