import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LIMITS } from '../../../src/server/connections.js'
import type { ServerOptions } from '../../../src/server/server.js'
import { bigMirror } from '../../support/big-mirror.js'
import { deferred, turns } from '../../support/deferred.js'
import { expectError } from '../../support/servers/error-response.js'
import { RawClient, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { openTestServer, startTestServer } from '../../support/servers/test-server.js'
import { upstreamSetup } from '../../support/servers/upstream-setup.js'
import { FULL_WEEKS } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const AT_ONCE = 4
/** The end of its candles. */
const NOW = Date.UTC(2025, 9, 6)

let root: string
beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-export-')), { symbols: ['BTCUSDT'], weeks: 40 })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))
afterEach(() => void vi.unstubAllEnvs())

const start = (options: Partial<ServerOptions> = {}) => startTestServer(root, { now: () => NOW, ...options })
/** A day of a week, and of another symbol: each needs one window of its own. */
const TARGETS = ['BTCUSDT', 'ETHUSDT'].flatMap(symbol =>
  FULL_WEEKS.map(week => `/export/15m/${symbol}.csv?from=${week}T00:00&to=${week}T06:00`),
)

/** A server whose service answers for no window before `release`: so many exports are being made. */
async function fullServer(count: number, limits = LIMITS) {
  const errors: Error[] = []
  const setup = await upstreamSetup({ limits, onError: error => void errors.push(error) })
  const { service, request } = setup
  const { promise, resolve: release } = deferred()
  const asked = () => service.log.map(({ path }) => path).filter(path => path.includes('USDT'))
  service.hold = path => (path.includes('USDT') ? promise : undefined)
  const first = TARGETS.slice(0, count).map(target => request(target))
  await expect.poll(() => asked().length).toBe(count)
  return { ...setup, asked, release, first, errors }
}

/** The temp files of exports, in a folder of this test alone. */
function ownTempFolder(): () => string[] {
  const folder = tempFolder()
  vi.stubEnv('TMPDIR', folder)
  return () => readdirSync(folder, { recursive: true }).map(String)
}

describe('exports at the same time', () => {
  it('beyond four wait, and are made in the order in which they came', async () => {
    const { request, asked, release, first } = await fullServer(AT_ONCE)
    const later: ReturnType<typeof request>[] = []
    for (const target of TARGETS.slice(AT_ONCE, AT_ONCE + 3)) {
      later.push(request(target))
      // Its connection is another one than that of the export before.
      await request('/api/openapi.json')
      await turns()
    }
    expect(asked()).toHaveLength(AT_ONCE)
    // A bad request needs no turn, and other paths are served.
    expect((await request('/export/15m/BTCUSDT.csv?x=1')).status).toBe(400)
    release()
    const statuses = (await Promise.all([...first, ...later])).map(({ status }) => status)
    expect(statuses).toEqual(Array(AT_ONCE + 3).fill(200))
    expect(asked().slice(AT_ONCE)).toEqual(
      TARGETS.slice(AT_ONCE, AT_ONCE + 3).map(target => expect.stringContaining(target.slice(-16, -6))),
    )
  })

  it('that wait too long get 503 with Retry-After', async () => {
    const { url, release, first, errors } = await fullServer(AT_ONCE, { ...LIMITS, exportWaitMs: 50 })
    const refused = await sendRaw(url, rawRequest(`GET ${TARGETS[AT_ONCE]}`))
    expect(expectError(refused, 503).message).toContain('Try again')
    expect(refused.headers['retry-after']).toBe('3')
    release()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200))
    expect((await sendRaw(url, rawRequest(`GET ${TARGETS[AT_ONCE]}`))).status).toBe(200)
    expect(errors).toEqual([])
  })

  it('a client that leaves while it waits frees its place', async () => {
    const { url, request, asked, release, first, errors } = await fullServer(AT_ONCE)
    const leaving = await RawClient.open(url)
    leaving.send(rawRequest(`GET ${TARGETS[AT_ONCE]}`))
    await request('/api/openapi.json')
    const last = request(TARGETS[AT_ONCE + 1])
    // The server has read both requests before it hears of the end.
    await request('/api/openapi.json')
    await turns()
    leaving.close()
    await turns()
    release()
    expect((await Promise.all([...first, last])).map(({ status }) => status)).toEqual(Array(AT_ONCE + 1).fill(200))
    expect(asked()).toHaveLength(AT_ONCE + 1)
    expect(errors).toEqual([])
  })

  it('leave other requests their turn', async () => {
    const { url, request } = await start()
    const targets = ['csv', 'parquet', 'arrow', 'csv.gz'].map(extension => `/export/15m/BTCUSDT.${extension}`)
    let running = targets.length
    const exports = targets.map(async target => {
      const { status } = await sendRaw(url, rawRequest(`GET ${target}`))
      running--
      return status
    })
    let answers = 0
    while (running > 0) {
      expect((await request('/api/klines/symbols.json')).status).toBe(200)
      answers++
    }
    expect(await Promise.all(exports)).toEqual([200, 200, 200, 200])
    expect(answers).toBeGreaterThan(20)
  })
})

describe('the files of exports', () => {
  it('are made once for all requests of a part, and the last four are kept', async () => {
    const files = ownTempFolder()
    const { request } = await start()
    const target = '/export/15m/BTCUSDT.csv?last=30d'
    await request(target, { method: 'HEAD' })
    const made = files()
    expect(made.filter(name => name.endsWith('.csv'))).toHaveLength(1)
    for (const range of ['bytes=0-9', 'bytes=-5']) await request(target, { headers: { range } })
    expect(files()).toEqual(made)
    for (const limit of [1, 2, 3, 4, 5]) await request(`/export/15m/BTCUSDT.csv?limit=${limit}`)
    await expect.poll(() => files().filter(name => name.endsWith('.csv')).length).toBe(4)
  })

  it('are gone when the server has closed, and those that are being made too', async () => {
    const files = ownTempFolder()
    const errors: Error[] = []
    const onError = (error: Error) => void errors.push(error)
    const server = await openTestServer(root, { now: () => NOW, onError, limits: { ...LIMITS, graceMs: 0 } })
    expect((await server.request('/export/15m/BTCUSDT.csv?limit=1')).status).toBe(200)
    const clients = await Promise.all(Array.from({ length: AT_ONCE + 2 }, () => RawClient.open(server.url)))
    for (const [index, client] of clients.entries())
      client.send(rawRequest(`GET /export/15m/BTCUSDT.parquet?limit=${26_000 - index}`))
    await expect.poll(() => files().some(name => name.includes('.parquet'))).toBe(true)
    await server.close()
    expect(files()).toEqual([])
    await Promise.all(clients.map(client => client.closed))
    for (const client of clients) client.close()
    expect(errors).toEqual([])
  })
})

describe('a shutdown', () => {
  it('finishes an export that is being made', async () => {
    const server = await openTestServer(root, { now: () => NOW, limits: { ...LIMITS, graceMs: 120_000 } })
    const client = await RawClient.open(server.url)
    client.send(rawRequest('GET /export/15m/BTCUSDT.jsonl'))
    // The server has read it.
    await server.request('/api/openapi.json')
    const closing = server.close()
    const { status, headers, body } = await client.next()
    expect([status, String(body.length)]).toEqual([200, headers['content-length']])
    client.close()
    await closing
  })
})
