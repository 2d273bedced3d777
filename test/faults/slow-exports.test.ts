import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../src/server/http/limits.js'
import { bigMirror } from '../support/big-mirror.js'
import { until } from '../support/deferred.js'
import { exportedFile } from '../support/servers/export-checks.js'
import { RawClient, rawRequest, sendRaw } from '../support/servers/raw-client.js'
import { startTestServer } from '../support/servers/test-server.js'

const AT_ONCE = 4
const NOW = Date.UTC(2029, 7, 1)
/** Each has more bytes than all buffers on the way can hold. */
const EXTENSIONS = ['jsonl', 'csv', 'arrow']
const SMALL = '/export/15m/BTCUSDT.csv?from=2025-01-01&to=2025-01-02'
/** Less than what quick readers take on a busy machine, in a shorter time than theirs. */
const SLOW = { exportBytesPerSecond: 8 * 1024 * 1024, exportPeriodMs: 400 }

let root: string
beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-slow-')), { symbols: ['BTCUSDT'], weeks: 240 })
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

/** A client that takes some KB now and then, for as long as it is connected. */
async function startReader(url: string, extension: string, everyMs = 20) {
  const client = await RawClient.open(url)
  const reader = { client, bytes: 0, end: '', error: '' }
  client.socket.on('error', (error: NodeJS.ErrnoException) => {
    reader.error = String(error.code)
  })
  client.socket.removeAllListeners('data').on('data', chunk => {
    reader.bytes += chunk.length
    reader.end = String(chunk.subarray(-5))
    client.socket.pause()
  })
  const timer = setInterval(() => client.socket.resume(), everyMs)
  void client.closed.then(() => clearInterval(timer))
  client.send(rawRequest(`GET /export/15m/BTCUSDT.${extension}`))
  await until(() => reader.bytes > 0)
  return reader
}

describe('F83 slow readers of four exports', () => {
  it.each(EXTENSIONS)('%s: are reset while others wait, who are served; the log says so', async extension => {
    const { url, log } = await start(SLOW)
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, extension)))
    expect(log).toEqual([])
    const others = await Promise.all(Array.from({ length: 6 }, () => sendRaw(url, rawRequest(`GET ${SMALL}`))))
    for (const { status, body } of others) {
      expect([status, String(body).trimEnd().split('\n').length]).toEqual([200, 1 + 96])
    }
    await Promise.all(readers.map(({ client }) => client.closed))
    for (const { error, end } of readers) {
      // No reader can take a part for the whole file.
      expect([error, end === '0\r\n\r\n']).toEqual(['ECONNRESET', false])
    }
    const line = `The response to GET /export/15m/BTCUSDT.${extension} was cut: its client read less than 8192 KB/s for 0.4 s while other exports waited`
    expect(log).toEqual(Array(AT_ONCE).fill(line))
  })

  it('with the limits of every day: others wait, and are served in their order when readers leave', async () => {
    const { url, log } = await start({})
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, 'jsonl')))
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
    const expected = await exportedFile(root, ['BTCUSDT', '15m', 'csv.gz'], { now: NOW })
    const readers = await Promise.all(Array.from({ length: AT_ONCE }, () => startReader(url, 'csv.gz', 1)))
    await until(() => readers.every(({ end }) => end === '0\r\n\r\n'))
    for (const { client, bytes } of readers) {
      expect(bytes).toBeGreaterThan(expected.length)
      client.close()
    }
    expect(log).toEqual([])
  })

  it('requests that follow others on a connection take no place of their own', async () => {
    const { url, request, log } = await start({})
    const client = await RawClient.open(url)
    client.socket.pause()
    for (let count = 0; count < 20; count++) client.send(rawRequest('GET /export/15m/BTCUSDT.jsonl'))
    for (let count = 0; count < 3; count++) expect((await request(SMALL)).status).toBe(200)
    client.close()
    expect(log).toEqual([])
  })
})
