import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { filesBelow, PROJECT } from '../../support/cli/cli-sandbox.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
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

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server over a folder, and a client that sends a path as it is: no URL parser tidies it up. */
async function serve(root: string, now: () => number = () => NOW) {
  const server = await startServer({ root, now })
  onTestFinished(() => server.close())
  const { hostname, port } = new URL(server.url)
  return (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const req = request({ hostname, port, path, headers }, response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
      req.on('error', reject).end()
    })
}

/** The error object of service.md, nothing more and nothing less. */
function expectNotFound({ status, headers, body }: Answer): void {
  expect(status).toBe(404)
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(JSON.parse(String(body))).toEqual({ statusCode: 404, message: expect.any(String), isError: true })
}

describe('the tree over HTTP', () => {
  it('gives every file of the sample byte by byte', async () => {
    const get = await serve(SAMPLE_TREE)
    const files = filesBelow(join(SAMPLE_TREE, 'api'))
    expect(files.length).toBeGreaterThan(50)
    for (const file of files) {
      const { status, headers, body } = await get(`/api/${file}`)
      expect([status, headers['content-type']], file).toEqual([200, 'application/json; charset=utf-8'])
      expect(body.equals(readFileSync(join(SAMPLE_TREE, 'api', file))), file).toBe(true)
    }
  })

  describe('of a mirror that is not complete', () => {
    let root: string
    let get: Awaited<ReturnType<typeof serve>>
    beforeEach(async () => {
      root = tempFolder()
      putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), '[]')
      get = await serve(root)
    })

    it('has the lists built in that the mirror lacks', async () => {
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

    it('gives the lists that the mirror has', async () => {
      putFile(root, 'api/klines/symbols.json', '["BTCUSDT"]')
      putFile(root, 'api/klines/start-dates/15m.json', '["2025-01-06"]')
      expect(String((await get('/api/klines/symbols.json')).body)).toBe('["BTCUSDT"]')
      expect(String((await get('/api/klines/start-dates/15m.json')).body)).toBe('["2025-01-06"]')
    })

    it('answers [] for a window of the future, and never for one that has started', async () => {
      const future = await get(`/${weekPath('ETHUSDT', FUTURE_WEEK)}`)
      expect([future.status, String(future.body)]).toEqual([200, '[]'])
      expectNotFound(await get(`/${weekPath('ETHUSDT', '2025-02-10')}`))
      expectNotFound(await get(`/${weekPath('ETHUSDT', EMPTY_WEEK)}`))
    })

    it('says of an absent window exactly that', async () => {
      const { body } = await get(`/${weekPath('BTCUSDT', FULL_WEEKS[1])}`)
      expect(JSON.parse(String(body))).toEqual({
        statusCode: 404,
        message: 'This window is not in the mirror.',
        isError: true,
      })
    })

    it('answers 404 for a folder in the place of a window', async () => {
      putFile(root, `${weekPath('BTCUSDT', FULL_WEEKS[1])}/inside`, 'x')
      expectNotFound(await get(`/${weekPath('BTCUSDT', FULL_WEEKS[1])}`))
    })
  })

  it('of a complete mirror answers [] for every window that exists and is not there', async () => {
    const get = await serve(SAMPLE_TREE)
    for (const window of ['15m/DOTUSDT/2025-01-06', '1h/BTCUSDT/2022-01-01', '1M/ETHUSDT/2030-01-01']) {
      const { status, body } = await get(`/api/klines/${window}.json`)
      expect([window, status, String(body)]).toEqual([window, 200, '[]'])
    }
  })

  it.each([
    '15m/BTCUSDT/2025-01-07',
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
  ])('has no %s, also in a complete mirror', async name => {
    const get = await serve(SAMPLE_TREE)
    expectNotFound(await get(`/api/klines/${name}.json`))
  })
})

describe('paths that try to leave the tree', () => {
  const SECRET = 'not to be seen'
  const up = (count: number, step: string) => step.repeat(count)

  /** The made tree, with files in and around it that are not of the tree. */
  function treeAmongSecrets(): string {
    const root = makeTree(join(tempFolder(), 'tree'))
    for (const name of ['mirror.json', 'api/secret.json', '../secret.json', '../package.json']) {
      writeFileSync(join(root, name), JSON.stringify({ layout: 1, baseUrl: SECRET, complete: false }))
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
  ])('%s is not there', async path => {
    const get = await serve(treeAmongSecrets())
    const answer = await get(path)
    expect(String(answer.body)).not.toContain(SECRET)
    expectNotFound(answer)
  })

  it.each(['%', '%zz', '%c0%ae%c0%ae/secret.json', '15m/BTCUSDT/%'])(
    '/api/klines/%s is no path at all, and gets the error object',
    async path => {
      const get = await serve(treeAmongSecrets())
      const { status, body } = await get(`/api/klines/${path}`)
      expect(status).toBe(400)
      expect(JSON.parse(String(body))).toEqual({ statusCode: 400, message: expect.any(String), isError: true })
    },
  )
})

describe('conditional requests', () => {
  const path = `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`
  const at = (time: number) => ({ 'if-modified-since': new Date(time).toUTCString() })
  let get: Awaited<ReturnType<typeof serve>>
  beforeEach(async () => {
    get = await serve(makeTree(tempFolder()))
  })

  it('a file says when it was modified, by its own time', async () => {
    expect((await get(path)).headers['last-modified']).toBe(new Date(RENDERED).toUTCString())
  })

  it.each([
    ['then', at(RENDERED), 304],
    ['later', at(RENDERED + 1000), 304],
    ['before', at(RENDERED - 1000), 200],
    ['no date', { 'if-modified-since': 'yesterday' }, 200],
  ])('a client that has it from %s gets the right answer', async (_, headers, status) => {
    const answer = await get(path, headers)
    expect(answer.status).toBe(status)
    expect(answer.body.length === 0).toBe(status === 304)
  })

  it('a file that was replaced is not the one of before', async () => {
    const root = makeTree(tempFolder())
    const fresh = await serve(root)
    expect((await fresh(path, at(RENDERED))).status).toBe(304)
    putFile(root, path.slice(1), '[]', RENDERED + 5000)
    const answer = await fresh(path, at(RENDERED))
    expect([answer.status, String(answer.body)]).toEqual([200, '[]'])
  })

  it('a window that follows from a rule has no date', async () => {
    const fresh = await serve(tempFolder())
    const { status, headers } = await fresh(`/${weekPath('BTCUSDT', FUTURE_WEEK)}`, at(NOW))
    expect([status, headers['last-modified']]).toEqual([200, undefined])
  })
})
