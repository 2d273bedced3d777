import { describe, expect, it, vi } from 'vitest'
import { LIMITS } from '../../../src/server/http/limits.js'
import { type LoggedRequest, startServer } from '../../../src/server/server.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawRequest } from '../../support/servers/raw-client.js'
import { makeWindow } from '../../support/servers/raw-requests.js'
import { FULL_WEEKS, putFile, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SYMBOLS = '/api/klines/symbols.json'
/** With responses of 90 KB each: more than all buffers on the way can hold. */
const REQUESTS = 400
const JSON_TYPE = 'Content-Type: application/json'
const sized = rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, 'Content-Length: 1000'])
const chunked = rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, 'Transfer-Encoding: chunked'])

// All tests of this file wait at the same time.
vi.setConfig({ maxConcurrency: 100 })

/** Sends a byte now and then until the connection closes. */
function drip(client: RawClient, bytes: string, everyMs = 300): void {
  let index = 0
  const timer = setInterval(() => client.send(bytes[index++ % bytes.length]), everyMs)
  void client.closed.then(() => clearInterval(timer))
}

describe.concurrent('a slow request gets 408 after the real limits: the client', () => {
  const server = useHttpServer()
  const { headersMs, requestMs, checkMs } = LIMITS

  it.each<[string, string | Buffer, string, number, number[]?]>([
    ['sends nothing', '', '', headersMs],
    ['drips a request line', 'GET /', 'a', headersMs],
    ['drips empty lines', '', '\r\n', headersMs],
    ['stops in the header', `GET ${SYMBOLS} HTTP/1.1\r\nHost: local`, '', headersMs],
    ['drips a header', `GET ${SYMBOLS} HTTP/1.1\r\n`, 'a: b\r\n', headersMs],
    ['drips a second header', rawRequest(`GET ${SYMBOLS}`).toString().concat('GET / HTT'), '', headersMs, [200]],
    [
      'drips a header after a stream',
      rawRequest('GET /api/streams/tokens').toString().concat('GET /'),
      'a',
      headersMs,
      [200],
    ],
    ['sends no body', sized, '', requestMs],
    ['drips a body', sized, ' ', requestMs],
    ['sends no chunk', chunked, '', requestMs],
    ['drips chunks', chunked, '1\r\n \r\n', requestMs],
    ['drips the size of a chunk', chunked, '0', requestMs],
    ['drips trailers', `${chunked}1\r\n{\r\n0\r\n`, 'a: b\r\n', requestMs],
    [
      'drips a body after 100-continue',
      rawRequest(`POST ${USER_TARGET}`, [JSON_TYPE, 'Expect: 100-continue', 'Content-Length: 1000']),
      ' ',
      requestMs,
    ],
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

it.concurrent('a client that keeps sending after an error is disconnected', { timeout: 60_000 }, async ({
  onTestFinished,
}) => {
  const server = await startServer({ root: tempFolder() })
  onTestFinished(() => server.close())
  const client = await RawClient.open(server.url)
  client.send('garbage\r\n\r\n')
  expectError(await client.next(), 400)
  const timer = setInterval(() => client.send('more\r\n'), 20)
  await new Promise(resolve => client.socket.once('close', resolve))
  clearInterval(timer)
})

describe.concurrent('with small limits', () => {
  const limits = { ...LIMITS, headersMs: 400, requestMs: 500, checkMs: 50, idleMs: 1_000, keepAliveMs: 100 }
  const server = useHttpServer({ limits })

  it('a connection is closed when it is idle after a response', async () => {
    const client = await RawClient.open(server.url())
    client.send(rawRequest(`GET ${SYMBOLS}`))
    expect((await client.next()).headers['keep-alive']).toMatch(/^timeout=\d+$/)
    await client.closed
    client.close()
    expect(client.rest.toString()).toBe('')
  })

  it('a stream continues as long as the client reads', async () => {
    const client = await RawClient.open(server.url())
    const started = performance.now()
    client.send(rawRequest('GET /api/streams/tokens'))
    const { status, body } = await client.next()
    client.close()
    expect(status).toBe(200)
    expect(performance.now() - started).toBeGreaterThan(2 * limits.idleMs)
    const messages = body
      .toString()
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).message)
    expect(messages.join('')).toMatch(/^Hello! .*\.$/)
  })

  it('a client that reads slowly is not disconnected', async () => {
    const path = weekPath('ETHUSDT', FULL_WEEKS[0])
    putFile(server.root(), path, makeWindow(672))
    const client = await RawClient.open(server.url())
    const started = performance.now()
    client.send(Buffer.concat(Array.from({ length: REQUESTS }, () => rawRequest(`GET /${path}`))))
    // A part is read more often than the limit, until that has passed several times.
    let [received, part] = [0, 0]
    client.socket.removeAllListeners('data').on('data', chunk => {
      received += chunk.length
      part -= chunk.length
      if (part <= 0) client.socket.pause()
    })
    const timer = setInterval(() => {
      part = 2_000_000
      client.socket.resume()
    }, limits.idleMs / 4)
    const expected = makeWindow(672).length * REQUESTS
    await expect.poll(() => received).toBeGreaterThan(expected)
    clearInterval(timer)
    expect(performance.now() - started).toBeGreaterThan(3 * limits.idleMs)
    client.close()
  })
})

// Not at the same time as the tests above, which keep this process busy.
describe('with a small limit for idle connections', () => {
  const limits = { ...LIMITS, idleMs: 2_000 }
  const log: LoggedRequest[] = []
  const server = useHttpServer({ limits, log: request => void log.push(request) })

  it('a client that stops reading is disconnected in time', async () => {
    const path = weekPath('BTCUSDT', FULL_WEEKS[0])
    putFile(server.root(), path, makeWindow(672))
    const client = await RawClient.open(server.url())
    client.socket.pause()
    client.send(Buffer.concat(Array.from({ length: REQUESTS }, () => rawRequest(`GET /${path}`))))
    const isCut = ({ url, tookMs }: LoggedRequest) => url === `/${path}` && tookMs >= limits.idleMs
    await expect.poll(() => log.some(isCut)).toBe(true)
    const cut = log.find(isCut)
    expect(cut?.tookMs).toBeLessThan(10 * limits.idleMs)
    client.socket.resume()
    await client.closed
    client.close()
    // From Node 24 on, requests whose responses were still queued are logged too.
    const answered = log.filter(({ url, tookMs }) => url === `/${path}` && tookMs < limits.idleMs)
    expect(answered.length).toBeLessThan(REQUESTS)
  })
})
