import { describe, expect, it, vi } from 'vitest'
import { LIMITS } from '../../../src/server/connections.js'
import { turns } from '../../support/deferred.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER, USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawRequest } from '../../support/servers/raw-client.js'

const SYMBOLS = '/api/klines/symbols.json'
const JSON_TYPE = 'Content-Type: application/json'
const sized = rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, 'Content-Length: 1000'])
const chunked = rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, 'Transfer-Encoding: chunked'])

// All tests of this file wait at the same time.
vi.setConfig({ maxConcurrency: 100 })

/** Sends a byte now and then until the connection closes. */
function drip(client: RawClient, bytes: string, everyMs = 100): void {
  let index = 0
  const timer = setInterval(() => client.send(bytes[index++ % bytes.length]), everyMs)
  void client.closed.then(() => clearInterval(timer))
}

it('the limits are those of Node', () => {
  expect(LIMITS).toMatchObject({ headersMs: 5_000, requestMs: 10_000 })
})

describe.concurrent('a slow request gets 408 after the limits: the client', () => {
  const { headersMs, requestMs, checkMs } = { headersMs: 1_000, requestMs: 2_000, checkMs: 200 }
  const server = useHttpServer({ limits: { ...LIMITS, headersMs, requestMs, checkMs } })

  it.each<[string, string | Buffer, string, number, number[]?]>([
    ['sends nothing', '', '', headersMs],
    ['drips a request line', 'GET /', 'a', headersMs],
    ['drips a header', `GET ${SYMBOLS} HTTP/1.1\r\n`, 'a: b\r\n', headersMs],
    ['drips a second header', rawRequest(`GET ${SYMBOLS}`).toString().concat('GET / HTT'), '', headersMs, [200]],
    ['sends no body', sized, '', requestMs],
    ['drips a body', sized, ' ', requestMs],
    ['drips chunks', chunked, '1\r\n \r\n', requestMs],
    ['drips trailers', `${chunked}1\r\n{\r\n0\r\n`, 'a: b\r\n', requestMs],
  ])('%s', async (_, bytes, drops, limit, before = []) => {
    const client = await RawClient.open(server.url())
    const started = performance.now()
    client.send(bytes)
    if (drops !== '') drip(client, drops)
    for (const status of before) expect((await client.next()).status).toBe(status)
    expectError(await client.next(), 408)
    await client.closed
    const took = performance.now() - started
    client.close()
    expect(took).toBeGreaterThan(limit - checkMs)
    expect(took).toBeLessThan(limit + checkMs + 1_000)
    expect(client.rest.toString()).toBe('')
  })

  it('drips a body that the server does not need: closed without a second response', async () => {
    const client = await RawClient.open(server.url())
    client.send(rawRequest('POST /nope', ['Content-Length: 1000']))
    drip(client, 'x')
    expectError(await client.next(), 404)
    await client.closed
    client.close()
    expect(client.rest.toString()).toBe('')
  })
})

describe.concurrent('with small limits', () => {
  const limits = { ...LIMITS, headersMs: 250, requestMs: 300, checkMs: 50, keepAliveMs: 1_000 }
  const streamText = 'This text has nine words, one every 200 ms.'
  const server = useHttpServer({ limits, streamText })

  it('a connection is closed when it is idle after a response', async () => {
    const client = await RawClient.open(server.url())
    client.send(rawRequest(`GET ${SYMBOLS}`))
    expect((await client.next()).headers['keep-alive']).toBe('timeout=1, max=1000')
    await client.closed
    client.close()
    expect(client.rest.toString()).toBe('')
  })

  it('a stream takes longer than a request may', async () => {
    const client = await RawClient.open(server.url())
    const started = performance.now()
    client.send(rawRequest('GET /api/streams/tokens'))
    const { status, body } = await client.next()
    client.close()
    expect(status).toBe(200)
    expect(performance.now() - started).toBeGreaterThan(4 * limits.requestMs)
    const lines = body.toString().trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line).message).join('')).toBe(streamText)
  })
})

describe('with limits of two seconds', () => {
  const limits = { ...LIMITS, headersMs: 2_000, requestMs: 2_000, checkMs: 50, keepAliveMs: 2_000 }
  const server = useHttpServer({ limits })
  /** Everything in this process stands still, and what was sent before lies in the socket. */
  const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200)
  const user = JSON.stringify(USER)
  const head = rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, `Content-Length: ${user.length}`])

  it('a request that has arrived is answered, however long the machine was busy meanwhile', async () => {
    const get = rawRequest(`GET ${SYMBOLS}`)
    const parts: [string, string | Buffer, string | Buffer][] = [
      ['a whole request', '', get],
      ['the end of a head', 'GET / HTTP/1.1\r\n', 'Host: localhost\r\n\r\n'],
      ['a body', head, user],
      ['the next request of a connection', get, get],
    ]
    const clients = await Promise.all(parts.map(() => RawClient.open(server.url())))
    for (const [index, client] of clients.entries()) client.send(parts[index][1])
    expect((await clients[3].next()).status).toBe(200)
    // The server has read the first parts.
    expect((await server.sendRaw(get)).status).toBe(200)
    await turns()
    for (const [index, client] of clients.entries()) client.send(parts[index][2])
    standStill()
    for (const [index, client] of clients.entries()) {
      expect([parts[index][0], (await client.next()).status]).toEqual([parts[index][0], 200])
      client.close()
    }
  })
})
