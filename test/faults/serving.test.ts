import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { RawClient, rawRequest } from '../support/servers/raw-client.js'
import { deliver } from '../support/servers/raw-requests.js'
import { startServeCommand } from '../support/servers/serve-command.js'

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
