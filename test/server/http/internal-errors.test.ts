import { chmodSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LIMITS } from '../../../src/server/http/limits.js'
import { startServer } from '../../../src/server/server.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER_TARGET } from '../../support/servers/http-server.js'
import { RawClient, rawPost, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { startServerProcess } from '../../support/servers/server-process.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SYMBOLS = '/api/klines/symbols.json'

describe('an internal error', () => {
  it('is a plain 500 for the client, and passed to onError: a file that the user may not read', async () => {
    const root = makeTree(tempFolder())
    chmodSync(root, 0o755)
    const path = weekPath('BTCUSDT', FULL_WEEKS[0])
    chmodSync(`${root}/${path}`, 0o000)
    const child = await startServerProcess(root, { withoutRoot: true })
    for (const method of ['GET', 'DELETE', 'GET']) {
      expectError(await sendRaw(child.url, rawRequest(`${method} /${path}`)), method === 'GET' ? 500 : 405)
    }
    expect((await sendRaw(child.url, rawRequest(`GET ${SYMBOLS}`))).status).toBe(200)
    expect(child.errors()).toHaveLength(2)
    expect(child.errors()[0]).toContain(root)
  })
})

describe('a client that is still sending', () => {
  const long = 'x'.repeat(5_000_000)

  it.each([
    [413, 'a body that is too large', rawPost(USER_TARGET, long)],
    [400, 'what is not HTTP', Buffer.from('zzzz\r\n'.repeat(1_000_000))],
    [404, 'a body for an unknown path', rawPost('/nope', long)],
    [
      417,
      'a body after an unknown expectation',
      rawRequest('POST /', ['Expect: x', `Content-Length: ${long.length}`], long),
    ],
  ])('still gets %i: %s', async (status, _, bytes) => {
    const { url } = await startTestServer(makeTree(tempFolder()))
    for (let round = 0; round < 15; round++) expectError(await sendRaw(url, bytes), status)
  })
})

describe('connections beyond the limit', () => {
  it('get 503 and are closed, and are served again when others have closed', async () => {
    const limits = { ...LIMITS, connections: 4 }
    const root = makeTree(tempFolder())
    const errors: Error[] = []
    const server = await startServer({ root, limits, onError: error => void errors.push(error) })
    onTestFinished(() => server.close())
    const clients = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(server.url)))
    const request = rawRequest(`GET ${SYMBOLS}`)
    const failing = rawRequest(`GET /${weekPath('DOTUSDT', FULL_WEEKS[0])}`)
    for (const client of clients) {
      client.send(request)
      expect((await client.next()).status).toBe(200)
    }
    for (let round = 0; round < 3; round++) {
      const beyond = await RawClient.open(server.url)
      beyond.send(Buffer.concat([failing, request]))
      const response = await beyond.next()
      expectError(response, 503)
      expect(response.headers).toMatchObject({ 'retry-after': '5', connection: 'close' })
      await beyond.closed
      expect(beyond.rest.toString()).toBe('')
      beyond.close()
    }
    // Their requests were not processed.
    expect(errors).toEqual([])
    const flood = await Promise.all(Array.from({ length: 50 }, () => RawClient.open(server.url)))
    await Promise.all(flood.map(client => client.closed))
    for (const client of [...flood, ...clients.splice(0, 2)]) client.close()
    await expect
      .poll(() =>
        sendRaw(server.url, request).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200)
    for (const client of clients) {
      client.send(request)
      expect((await client.next()).status).toBe(200)
      client.close()
    }
  })
})
