import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../../src/server/server.js'
import { bigMirror } from '../../support/big-mirror.js'
import { expectError } from '../../support/servers/error-response.js'
import { RawClient, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { openTestServer, startTestServer } from '../../support/servers/test-server.js'

const AT_ONCE = 4
/** Some 10 MB: more than all buffers on the way can hold. */
const TARGET = '/export/15m/BTCUSDT.jsonl'
const SMALL = '/export/15m/BTCUSDT.csv?last=1d'
const NOW = Date.UTC(2026, 10, 24)

let root: string
beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-export-')), { symbols: ['BTCUSDT'], weeks: 100 })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const start = (options: Partial<ServerOptions> = {}) => startTestServer(root, { now: () => NOW, ...options })

/** Requests an export and reads its first bytes only. */
async function beginExport(url: string, target = TARGET): Promise<RawClient> {
  const client = await RawClient.open(url)
  client.socket.removeAllListeners('data')
  client.send(rawRequest(`GET ${target}`))
  const [chunk] = await new Promise<[Buffer]>(resolve =>
    client.socket.once('data', first => {
      client.socket.pause()
      resolve([first])
    }),
  )
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  return client
}

const small = (url: string) => sendRaw(url, rawRequest(`GET ${SMALL}`))

describe('exports at the same time', () => {
  it('beyond four get 503, until one ends or its client leaves', async () => {
    const { url, request } = await start()
    const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => beginExport(url)))
    const refused = await small(url)
    expect(expectError(refused, 503).message).toContain('Try again')
    expect(refused.headers['retry-after']).toBe('3')
    // A bad request needs no turn, and other paths are served.
    expect((await request('/export/15m/BTCUSDT.csv?x=1')).status).toBe(400)
    expect((await request('/api/klines/symbols.json')).status).toBe(200)
    clients.pop()?.close()
    await expect.poll(() => small(url).then(({ status }) => status)).toBe(200)
    for (const client of clients) client.close()
    const head = () => request(TARGET, { method: 'HEAD' }).then(({ status }) => status)
    await expect.poll(() => Promise.all(Array.from({ length: AT_ONCE }, head))).toEqual(Array(AT_ONCE).fill(200))
  })

  it('a client that leaves before the first byte frees its place', async () => {
    const errors: Error[] = []
    const { url, request } = await start({ onError: error => void errors.push(error) })
    for (let time = 0; time < 3; time++) {
      const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => RawClient.open(url)))
      for (const client of clients) client.send(rawRequest(`GET /export/15m/BTCUSDT.parquet`))
      // Both are in the server's queue: it reads the requests before it notices the end of the connections.
      for (const client of clients) client.close()
    }
    const getFour = () => Promise.all(Array.from({ length: AT_ONCE }, () => request(SMALL)))
    await expect
      .poll(async () => (await getFour()).map(({ status }) => status), { timeout: 30_000 })
      .toEqual([200, 200, 200, 200])
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

describe('a shutdown', () => {
  it('finishes an export that is read, and cuts one that is not after five seconds', async () => {
    const server = await openTestServer(root, { now: () => NOW })
    const reading = await beginExport(server.url)
    const stopped = await beginExport(server.url)
    const started = performance.now()
    const closing = server.close()
    let [length, end] = [0, '']
    reading.socket
      .on('data', chunk => {
        length += chunk.length
        end = String(chunk.subarray(-5))
      })
      .resume()
    await reading.closed
    expect([length > 8_000_000, end]).toEqual([true, '0\r\n\r\n'])
    await closing
    expect(performance.now() - started).toBeGreaterThan(4_500)
    expect(performance.now() - started).toBeLessThan(60_000)
    for (const client of [reading, stopped]) client.close()
  })
})
