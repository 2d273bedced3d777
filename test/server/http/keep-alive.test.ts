import { beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/server/connections.js'
import { useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawRequest } from '../../support/servers/raw-client.js'
import * as requests from '../../support/servers/raw-requests.js'
import {
  deliver,
  get,
  getWindow,
  makeWindow,
  recordResponses,
  WINDOW_PATH,
} from '../../support/servers/raw-requests.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { makeTree, putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const { CONNECT, HEAD_WINDOW, HTTP10_SYMBOLS, LAST_SYMBOLS, SYMBOLS, UNKNOWN, UNMODIFIED_WINDOW, WINDOW } = requests
/** An incomplete header. */
const START = 'GET /nope HTTP/1.1\r\nX: '
const SYMBOLS_BODY = '["BTCUSDT","ETHUSDT"]'

/** Opens a connection and sends a request over it twice. */
async function openUsed(url: string, request: Buffer): Promise<RawClient> {
  const client = await RawClient.open(url)
  for (let count = 0; count < 2; count++) {
    client.send(request)
    expect((await client.next()).status).toBe(200)
  }
  return client
}

describe('a request that is repeated on a connection', () => {
  const server = useHttpServer()
  beforeAll(() => putFile(server.root(), WINDOW_PATH, makeWindow(672)))

  it.each([
    ['small', 200, SYMBOLS],
    ['large', 200, WINDOW],
    ['gzip', 200, getWindow('Accept-Encoding: gzip')],
    ['br', 200, getWindow('Accept-Encoding: br')],
    ['HEAD', 200, HEAD_WINDOW],
    ['unmodified', 304, UNMODIFIED_WINDOW],
    ['a range', 206, getWindow('Range: bytes=100-199')],
  ])('gets the same bytes each time: %s', async (_, status, request) => {
    const client = await RawClient.open(server.url())
    const record = recordResponses(client)
    const responses = new Set<string>()
    for (let count = 0; count < 5; count++) {
      client.send(request)
      expect((await client.next({ head: request === HEAD_WINDOW })).status).toBe(status)
      responses.add(record())
    }
    client.close()
    expect(responses.size).toBe(1)
  })

  it.each([
    ['the body of a POST', rawRequest('POST /nope', [`Content-Length: ${SYMBOLS.length}`])],
    ['the body of a GET', get('/nope', [`Content-Length: ${SYMBOLS.length}`])],
    ['the rest of a header', START],
    ['the rest of a header after another request', `${UNKNOWN}${START}`],
  ])('gets no response as %s', async (_, before) => {
    const client = await openUsed(server.url(), SYMBOLS)
    const record = recordResponses(client)
    for (const bytes of [before, SYMBOLS]) await deliver(client, bytes, server.url())
    client.socket.end()
    await client.closed
    expect(new Set(record().match(/HTTP.* \d+/g))).toEqual(new Set(['HTTP/1.1 404']))
  })

  it('gets no response after CONNECT', async () => {
    const client = await openUsed(server.url(), SYMBOLS)
    client.send(CONNECT)
    expect((await client.next()).status).toBe(405)
    await client.closed
    for (let count = 0; count < 3; count++) await deliver(client, SYMBOLS, server.url())
    client.close()
    expect(client.rest.toString()).toBe('')
  })

  it.each(['at once', 'one by one'])('is answered in order to a client that reads late: 200 sent %s', async mode => {
    const client = await openUsed(server.url(), WINDOW)
    client.socket.pause()
    const all = Array.from({ length: 200 }, (_, index) => (index % 10 === 9 ? SYMBOLS : WINDOW))
    for (const bytes of mode === 'at once' ? [Buffer.concat(all)] : all) await deliver(client, bytes, server.url())
    client.socket.resume()
    const responses = await Promise.all(all.map(() => client.next()))
    client.close()
    const [small, large] = [Buffer.from(SYMBOLS_BODY), makeWindow(672)]
    expect(responses.filter(({ body }, index) => !body.equals(all[index] === SYMBOLS ? small : large))).toEqual([])
  })

  it.each([
    ['Connection: close', LAST_SYMBOLS],
    ['HTTP/1.0', HTTP10_SYMBOLS],
  ])('gets no response after %s, which ends the connection', async (_, last) => {
    const client = await openUsed(server.url(), SYMBOLS)
    client.send(last)
    expect(await client.next()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await client.closed
    await deliver(client, SYMBOLS, server.url())
    client.close()
    expect(client.rest.toString()).toBe('')
  })
})

it('an idle connection with earlier requests outlives the limit for a first request', async () => {
  const limits = { ...LIMITS, headersMs: 200, checkMs: 20 }
  const { url } = await startTestServer(makeTree(tempFolder()), { limits })
  const [used, silent] = [await openUsed(url, SYMBOLS), await RawClient.open(url)]
  expect((await silent.next()).status).toBe(408)
  used.send(SYMBOLS)
  expect((await used.next()).status).toBe(200)
  for (const client of [used, silent]) client.close()
})
