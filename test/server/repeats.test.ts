import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SYMBOLS_PATH } from '../../src/klines/paths.js'
import { LIMITS } from '../../src/server/http/hardened-server.js'
import * as requests from '../support/repeating.js'
import {
  countParsed,
  deliver,
  get,
  getWindow,
  openKnown,
  recordOf,
  WINDOW_PATH,
  windowOf,
} from '../support/repeating.js'
import { useHttpServer } from '../support/servers/http-server.js'
import { RawClient, rawRequest } from '../support/servers/raw-client.js'
import { serve } from '../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, putFile, RENDERED, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const { CONNECT, HEAD, LAST_SYMBOLS, NONE, OLD_SYMBOLS, SYMBOLS, UNMODIFIED, WINDOW } = requests
/** To which any line can be added. */
const START = 'GET /nope HTTP/1.1\r\nX: '
const LISTED = '["BTCUSDT","ETHUSDT"]'

describe('a request that comes again', () => {
  const server = useHttpServer()
  beforeAll(() => putFile(server.root(), WINDOW_PATH, windowOf(672)))

  it.each([
    ['small', 200, SYMBOLS],
    ['large', 200, WINDOW],
    ['gzip', 200, getWindow('Accept-Encoding: gzip')],
    ['br', 200, getWindow('Accept-Encoding: br')],
    ['HEAD', 200, HEAD],
    ['unmodified', 304, UNMODIFIED],
    ['a part', 206, getWindow('Range: bytes=100-199')],
  ])('is answered with the same bytes, and parsed once: %s', async (_, status, request) => {
    const parsed = countParsed(request === SYMBOLS ? SYMBOLS_PATH : WINDOW_PATH)
    const client = await RawClient.open(server.url())
    const record = recordOf(client)
    const answers = new Set<string>()
    for (let time = 0; time < 5; time++) {
      client.send(request)
      expect((await client.next({ head: request === HEAD })).status).toBe(status)
      answers.add(record())
    }
    client.close()
    expect(answers.size).toBe(1)
    expect(parsed()).toBe(1)
  })

  it('gets what the file is now: replaced, removed, put back', async () => {
    const path = weekPath('ETHUSDT', FULL_WEEKS[0])
    const client = await RawClient.open(server.url())
    for (const [index, count] of [9, 10, undefined, 9].entries()) {
      if (count) putFile(server.root(), path, windowOf(count), RENDERED + index * 1_000)
      else rmSync(join(server.root(), path))
      for (let time = 0; time < 3; time++) {
        client.send(get(`/${path}`))
        const { status, body } = await client.next()
        expect(status).toBe(count ? 200 : 404)
        if (count) expect(body.equals(windowOf(count))).toBe(true)
      }
    }
    client.close()
  })

  it.each([
    ['the body of a POST', rawRequest('POST /nope', [`Content-Length: ${SYMBOLS.length}`])],
    ['the body of a GET', get('/nope', [`Content-Length: ${SYMBOLS.length}`])],
    ['the rest of a header', START],
    ['the rest of a header that came behind a request', `${NONE}${START}`],
  ])('is none as %s', async (_, before) => {
    const client = await openKnown(server.url(), SYMBOLS)
    const record = recordOf(client)
    for (const bytes of [before, SYMBOLS]) await deliver(client, bytes, server.url())
    client.socket.end()
    await client.closed
    expect(new Set(record().match(/HTTP.* \d+/g))).toEqual(new Set(['HTTP/1.1 404']))
  })

  it('is what it says by itself, whatever its bytes were the end of', async () => {
    const client = await openKnown(server.url(), SYMBOLS)
    await deliver(client, `GET /${SYMBOLS_PATH} HTTP/1.1\r\nX: `, server.url())
    for (const bytes of [WINDOW, SYMBOLS]) {
      client.send(bytes)
      expect((await client.next()).body.toString()).toBe(LISTED)
    }
    client.close()
    const other = await openKnown(server.url(), SYMBOLS)
    other.send(WINDOW)
    expect((await other.next()).body.equals(windowOf(672))).toBe(true)
    other.close()
  })

  it('is none behind CONNECT', async () => {
    const client = await openKnown(server.url(), SYMBOLS)
    client.send(CONNECT)
    expect((await client.next()).status).toBe(405)
    await client.closed
    for (let time = 0; time < 3; time++) await deliver(client, SYMBOLS, server.url())
    client.close()
    expect(client.rest.toString()).toBe('')
  })

  it('waits for the stream before it', async () => {
    const client = await openKnown(server.url(), SYMBOLS)
    client.send(get('/api/streams/tokens'))
    await new Promise(resolve => client.socket.once('data', resolve))
    await deliver(client, SYMBOLS, server.url())
    expect((await client.next()).body.toString()).toMatch(/^(\{"message":".*"\}\n)+$/)
    expect((await client.next()).body.toString()).toBe(LISTED)
    client.close()
  })

  it.each(['at once', 'one by one'])('is answered in turn, and whole, to who reads late: 200 sent %s', async how => {
    const [first, client] = [await openKnown(server.url(), SYMBOLS), await openKnown(server.url(), WINDOW)]
    first.close()
    client.socket.pause()
    const parsed = countParsed(WINDOW_PATH)
    const all = Array.from({ length: 200 }, (_, index) => (index % 10 === 9 ? SYMBOLS : WINDOW))
    for (const bytes of how === 'at once' ? [Buffer.concat(all)] : all) await deliver(client, bytes, server.url())
    // What the reader does not take does not pile up either: Node stops reading.
    expect(parsed()).toBeGreaterThan(0)
    client.socket.resume()
    const answers = await Promise.all(all.map(() => client.next()))
    client.close()
    const [small, large] = [Buffer.from(LISTED), windowOf(672)]
    expect(answers.filter(({ body }, index) => !body.equals(all[index] === SYMBOLS ? small : large))).toEqual([])
  })

  it.each([
    ['Connection: close', LAST_SYMBOLS],
    ['HTTP/1.0', OLD_SYMBOLS],
  ])('ends the connection with %s, and is none behind that', async (_, last) => {
    for (let time = 0; time < 3; time++) {
      const client = await openKnown(server.url(), SYMBOLS)
      client.send(last)
      expect(await client.next()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      await client.closed
      await deliver(client, SYMBOLS, server.url())
      client.close()
      expect(client.rest.toString()).toBe('')
    }
  })
})

it('a connection with nothing but requests that come again is not one that has sent nothing', async () => {
  const limits = { ...LIMITS, headersMs: 200, checkMs: 20 }
  const { url } = await serve(makeTree(tempFolder()), { limits })
  const clients = [await openKnown(url, SYMBOLS), await RawClient.open(url)]
  const silent = await RawClient.open(url)
  clients[1].send(SYMBOLS)
  expect((await clients[1].next()).status).toBe(200)
  expect((await silent.next()).status).toBe(408)
  for (const client of clients) client.send(SYMBOLS)
  for (const client of clients) expect((await client.next()).status).toBe(200)
  for (const client of [...clients, silent]) client.close()
})
