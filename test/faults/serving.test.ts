import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { oneOf } from '../support/full.js'
import { peakMemory, processorMs } from '../support/process-figures.js'
import { flood } from '../support/servers/flood.js'
import { RawClient, rawRequest } from '../support/servers/raw-client.js'
import { deliver } from '../support/servers/raw-requests.js'
import { startServeCommand } from '../support/servers/serve-command.js'

const CONNECTIONS = 40
const REQUESTS = 900
/** How long the server may work before it answers another client; without turns that client waited for 10 to 50 s. */
const MOST_MS = 4_000
const MOST_BYTES = 250 * 1024 * 1024

const newSandbox = useSandboxes()
let root: string
let windows: string[]

beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-flood-')), {
    symbols: ['BTCUSDT', 'ETHUSDT', 'BNBUSDT', 'SOLUSDT', 'XRPUSDT'],
  })
  windows = filesBelow(join(root, 'api')).map(file => `api/${file}`)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Requests of the connection with this index, each for another body than the ones before and after it. */
const requestWindows = (index: number) =>
  Array.from({ length: REQUESTS }, (_, request) => windows[(index * 7 + request) % windows.length])
const requestTokens = () => Array<string>(REQUESTS).fill('api/streams/tokens')
/** Short requests: some 1,800 of them arrive in one packet. */
const requestRoot = () => Array<string>(1_500).fill('')

describe('F64 pipelined requests that are never read', () => {
  it.each(
    oneOf<[string, (index: number) => string[]]>(3, [
      ['windows', requestWindows],
      ['streams', requestTokens],
      ['short requests', requestRoot],
    ]),
  )('take bounded memory, and others are served: %s', async (_, requests) => {
    const server = await startServeCommand(newSandbox(), ['--mirror', root])
    const { close } = await flood(
      server.url,
      Array.from({ length: CONNECTIONS }, (_, index) => requests(index)),
    )
    for (let count = 0; count < 20; count++) {
      const before = processorMs(server.child.pid)
      const response = await fetch(`${server.url}/${windows[count]}`)
      expect([response.status, JSON.parse(await response.text()).length]).toEqual([200, 672])
      expect(processorMs(server.child.pid) - before, 'ms of work').toBeLessThan(MOST_MS)
    }
    expect(peakMemory(server.child.pid), 'bytes of memory').toBeLessThan(MOST_BYTES)
    close()
    const run = await server.stop()
    expect(run).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('F66 a shutdown', () => {
  const get = (path: string) => rawRequest(`GET /${path}`)

  it('finishes answers that are read slowly', async () => {
    const server = await startServeCommand(newSandbox(), ['--mirror', root])
    // More than the buffers of the kernel hold.
    const requested = windows.slice(0, 120)
    const client = await RawClient.open(server.url)
    client.socket.pause()
    await deliver(client, Buffer.concat(requested.map(get)), server.url)
    const responses = Promise.all(requested.map(() => client.next()))
    const ended = server.stop('SIGTERM')
    client.socket.resume()
    const received = await responses
    for (const [index, { status, body }] of received.entries()) {
      expect([status, body.equals(readFileSync(join(root, requested[index])))]).toEqual([200, true])
    }
    expect(received.at(-1)?.headers.connection).toBe('close')
    client.close()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('answers requests that have just arrived, and ends their connections', async () => {
    const server = await startServeCommand(newSandbox(), ['--mirror', root])
    const clients = await Promise.all(Array.from({ length: 15 }, () => RawClient.open(server.url)))
    for (const client of clients) {
      client.send(get(windows[0]))
      expect((await client.next()).status).toBe(200)
    }
    for (const client of clients) client.send(get(windows[1]))
    const ended = server.stop('SIGTERM')
    for (const client of clients) {
      const { status, body } = await client.next()
      expect([status, body.equals(readFileSync(join(root, windows[1])))]).toEqual([200, true])
      await client.closed
      client.close()
    }
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})
