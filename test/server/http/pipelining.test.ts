import { describe, expect, it } from 'vitest'
import { deferred, turns, until } from '../../support/deferred.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER_BODY, USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawPost, rawRequest } from '../../support/servers/raw-client.js'
import { recordResponses } from '../../support/servers/raw-requests.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { upstreamSetup } from '../../support/servers/upstream-setup.js'
import { FULL_WEEKS, makeTree, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SYMBOLS = '/api/klines/symbols.json'
const get = (headers: string[], target = SYMBOLS) => rawRequest(`GET ${target}`, headers)

describe('the requests of a connection', () => {
  const missing = FULL_WEEKS.flatMap(date => ['BTCUSDT', 'ETHUSDT'].map(symbol => weekPath(symbol, date)))

  it('are answered eight at a time, all of them and in order', async () => {
    const { service, url, original } = await upstreamSetup()
    const released = deferred()
    service.hold = () => released.promise
    const client = await RawClient.open(url)
    client.send(Buffer.concat(missing.map(path => get([], `/${path}`))))
    await until(() => service.log.length === 8)
    await turns()
    expect(service.peak).toBe(8)
    released.resolve()
    for (const path of missing) expect((await client.next()).body.equals(original(path)), path).toBe(true)
    expect(service.peak).toBe(8)
    client.close()
  })

  it('get 100 Continue in their order', async () => {
    const { url } = await startTestServer(makeTree(tempFolder()))
    const client = await RawClient.open(url)
    const record = recordResponses(client)
    const streams = Array<Buffer>(9).fill(get([], '/api/streams/tokens'))
    const length = `Content-Length: ${USER_BODY.length}`
    const post = rawRequest(`POST ${USER_TARGET}`, ['Content-Type: application/json', 'Expect: 100-continue', length])
    client.send(Buffer.concat([...streams, post]))
    for (let count = 0; count < streams.length; count++) expect((await client.next()).status).toBe(200)
    await until(() => client.rest.includes('100 Continue'))
    client.send(USER_BODY)
    expect((await client.next()).status).toBe(200)
    const statuses = record().match(/^HTTP\/1\.1 \d+/gm)
    expect(statuses).toEqual([...streams.map(() => 'HTTP/1.1 200'), 'HTTP/1.1 100', 'HTTP/1.1 200'])
    client.close()
  })
})

describe.concurrent('pipelined requests on a connection', () => {
  const server = useHttpServer()

  it('a rejected body does not affect the next request', async () => {
    const client = await RawClient.open(server.url())
    for (const bytes of [rawPost('/nope', 'GET / HTTP/1.1\r\n\r\n', 'text/x'), rawPost(SYMBOLS, '{}'), get([])])
      client.send(bytes)
    expectError(await client.next(), 404)
    expectError(await client.next(), 405)
    expect((await client.next()).status).toBe(200)
    client.close()
  })

  it.each(['garbage\r\n\r\n', 'GET / HTTP/1.1\r\na b: c\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'])(
    'responses come in order: those of the valid requests, complete, then the error for %j',
    async bytes => {
      const targets = ['/api/streams/tokens', `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`, '/docs/swagger-ui.css']
      const check = async (target: string) => {
        const client = await RawClient.open(server.url())
        const valid = rawRequest(`GET ${target}`, ['Accept-Encoding: br'])
        client.send(Buffer.concat([valid, valid, Buffer.from(bytes)]))
        const [first, second] = [await client.next(), await client.next()]
        expect([first.status, second.status]).toEqual([200, 200])
        expect(second.body.equals(first.body)).toBe(true)
        expectError(await client.next(), bytes.startsWith('CONNECT') ? 405 : 400)
        await client.closed
        expect(client.rest.toString()).toBe('')
      }
      await Promise.all(targets.map(check))
    },
  )

  it('a request gets one response, even if its body is malformed after that', async () => {
    const client = await RawClient.open(server.url())
    client.send(rawRequest('POST /nope', ['Transfer-Encoding: chunked']))
    expectError(await client.next(), 404)
    client.send('zz\r\n'.repeat(1_000))
    client.socket.end()
    await client.closed
    expect(client.rest.toString()).toBe('')
  })

  it('an unsupported upgrade is ignored, and its request is answered as the last one', async () => {
    const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA']
    const body = ['Content-Type: application/json', `Content-Length: ${USER_BODY.length}`]
    for (const request of [get(upgrade), rawRequest(`POST ${USER_TARGET}`, [...upgrade, ...body], USER_BODY)]) {
      const client = await RawClient.open(server.url())
      client.send(Buffer.concat([get([]), request, get([]), get([])]))
      for (const connection of ['keep-alive', 'close']) {
        expect(await client.next()).toMatchObject({ status: 200, headers: { connection } })
      }
      await client.closed
      expect(client.rest.toString()).toBe('')
      client.close()
    }
  })

  it('trailers and chunk extensions are ignored', async () => {
    const client = await RawClient.open(server.url())
    const chunk = `${USER_BODY.length.toString(16)};name=value\r\n${USER_BODY}\r\n`
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'Trailer: Host']
    client.send(rawRequest(`POST ${USER_TARGET}`, headers, `${chunk}0\r\nHost: evil.com\r\nX: y\r\n\r\n`))
    client.send(get([]))
    for (let count = 0; count < 2; count++) expect((await client.next()).status).toBe(200)
    client.close()
  })

  it('OPTIONS * describes the whole server', async () => {
    const client = await RawClient.open(server.url())
    client.send(rawRequest('OPTIONS *'))
    expect(await client.next()).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } })
    client.close()
  })

  it('a thousand requests at once are answered in order', async () => {
    const client = await RawClient.open(server.url())
    const targets = [SYMBOLS, '/nope', `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`, '/%']
    client.send(Buffer.concat(Array.from({ length: 250 }, () => targets.map(target => get([], target))).flat()))
    for (let round = 0; round < 250; round++) {
      for (const status of [200, 404, 200, 400]) expect((await client.next()).status).toBe(status)
    }
    client.close()
  })
})
