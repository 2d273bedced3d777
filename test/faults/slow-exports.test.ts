import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../src/server/http/limits.js'
import { bigMirror } from '../support/big-mirror.js'
import { until } from '../support/deferred.js'
import { RawClient, rawRequest, sendRaw } from '../support/servers/raw-client.js'
import { startTestServer } from '../support/servers/test-server.js'

const AT_ONCE = 4
const NOW = Date.UTC(2034, 2, 8)
/** Some 100 MB: more than all buffers on the way can hold. */
const BIG = 'jsonl'
const SMALL = '/export/15m/BTCUSDT.csv?from=2025-01-01&to=2025-01-02'
/** More than the readers take, after less than half a second of waiting for them. */
const SLOW = { exportBytesPerSecond: 4 * 1024 * 1024, exportPeriodMs: 400 }

let root: string
beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-slow-')), { symbols: ['BTCUSDT'], weeks: 480 })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A server, and what its log says. */
async function start(limits: Partial<typeof LIMITS>) {
  const log: string[] = []
  const server = await startTestServer(root, {
    now: () => NOW,
    limits: { ...LIMITS, ...limits },
    warn: text => void log.push(text),
  })
  return { ...server, log }
}

/** A client that takes 4 KB now and then, as long as it is connected: so little at once that the kernel's buffer stays small. */
async function startReader(url: string, file: string, everyMs = 50) {
  const client = await RawClient.open(url)
  const { socket } = client
  const reader = { client, bytes: 0, end: '', error: '', hurry }
  socket.on('error', (error: NodeJS.ErrnoException) => {
    reader.error = String(error.code)
  })
  socket
    .removeAllListeners('data')
    .pause()
    .on('readable', () => {})
  const timer = setInterval(() => take(socket.read(Math.min(4096, socket.readableLength))), everyMs)
  function take(chunk: Buffer | null): void {
    if (chunk === null) return
    reader.bytes += chunk.length
    reader.end = (reader.end + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
  }
  /** Takes all that comes from now on. */
  function hurry(): void {
    take(socket.read())
    if (!socket.destroyed) setImmediate(hurry)
  }
  socket.on('close', () => clearInterval(timer))
  client.send(rawRequest(`GET /export/15m/BTCUSDT.${file}`))
  await until(() => reader.bytes > 0)
  return reader
}

describe('F83 slow readers of four exports', () => {
  it('are reset while others wait, who are served; the log says so', async () => {
    const { url, log } = await start(SLOW)
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, BIG)))
    expect(log).toEqual([])
    const others = await Promise.all(Array.from({ length: 6 }, () => sendRaw(url, rawRequest(`GET ${SMALL}`))))
    for (const { status, body } of others) {
      expect([status, String(body).trimEnd().split('\n').length]).toEqual([200, 1 + 96])
    }
    // What the kernel has for them arrives first.
    for (const { hurry } of readers) hurry()
    await Promise.all(readers.map(({ client }) => client.closed))
    // The place of one is enough for all others. No reader can take a part for the whole file.
    const cut = readers.filter(({ end }) => end !== '0\r\n\r\n')
    expect(cut.length).toBeGreaterThan(0)
    expect(cut.map(({ error }) => error)).toEqual(cut.map(() => 'ECONNRESET'))
    const line = `The response to GET /export/15m/BTCUSDT.${BIG} was cut: its client read less than 4096 KB/s for 0.4 s while other exports waited`
    expect(log).toEqual(cut.map(() => line))
  })

  it('with the limits of every day: others wait, and are served in their order when readers leave', async () => {
    const { url, log } = await start({})
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, BIG)))
    const served: number[] = []
    const waiting: Promise<void>[] = []
    for (let index = 0; index < 5; index++) {
      const client = await RawClient.open(url)
      client.send(rawRequest(`GET ${SMALL}`))
      // Other requests of the same connection wait behind it, so that this one was received.
      await fetch(`${url}/api/klines/symbols.json`)
      waiting.push(
        client.next().then(({ status }) => {
          expect(status).toBe(200)
          served.push(index)
          client.close()
        }),
      )
    }
    expect(served).toEqual([])
    readers[0].client.close()
    await Promise.all(waiting)
    expect(served).toEqual([0, 1, 2, 3, 4])
    expect(log).toEqual([])
    for (const { client } of readers) client.close()
  })

  it('nobody waits: they get every byte', async () => {
    const { url, log } = await start({ exportBytesPerSecond: 1024 ** 3, exportPeriodMs: 10 })
    const file = 'csv.gz?to=2026-01-01'
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, file, 1)))
    await until(() => readers.every(({ end }) => end === '0\r\n\r\n'))
    for (const { client } of readers) client.close()
    expect(log).toEqual([])
  })

  it('requests that follow others on a connection take no place of their own', async () => {
    const { url, request, log } = await start({})
    const client = await RawClient.open(url)
    client.socket.pause()
    for (let count = 0; count < 20; count++) client.send(rawRequest(`GET /export/15m/BTCUSDT.${BIG}`))
    for (let count = 0; count < 3; count++) expect((await request(SMALL)).status).toBe(200)
    client.close()
    expect(log).toEqual([])
  })
})
