import { describe, expect, it } from 'vitest'
import { KLINES } from '../../support/documents.js'
import { expectError } from '../../support/servers/error-response.js'
import { useHttpServer } from '../../support/servers/http-server.js'

const server = useHttpServer()
const findUrls = (body: Buffer) => JSON.parse(body.toString()).servers.map(({ url }: { url: string }) => url)

/** Sends a request without a body; `lines` are those of its head. */
const send = (...lines: string[]) => server.sendRaw(`${lines.join('\r\n')}\r\n\r\n`)

describe('a document has the address that it was requested at', () => {
  const path = KLINES
  const get = (host: string, ...fields: string[]) => send(`GET ${path} HTTP/1.1`, `Host: ${host}`, ...fields)

  it.each([
    ['localhost:8787', 'http://localhost:8787'],
    ['localhost:', 'http://localhost'],
    ['app.localhost:3000', 'http://app.localhost:3000'],
    ['[::1]:8787', 'http://[::1]:8787'],
    // Valid for the server, and invalid for the URL parser.
    ['xn--a.localhost:8787', 'http://xn--a.localhost:8787'],
  ])('Host: %s', async (host, url) => {
    const { status, body } = await get(host)
    expect([status, findUrls(body)]).toEqual([200, [url]])
  })

  it('of the connection for HTTP/1.0 without Host', async () => {
    const { status, body } = await send(`GET ${path} HTTP/1.0`)
    expect([status, findUrls(body)]).toEqual([200, [server.url()]])
    expect(findUrls((await send(`GET ${path} HTTP/1.0`, 'Host: localhost:5')).body)).toEqual(['http://localhost:5'])
  })

  it('and no header of a proxy nor a foreign Host changes it', async () => {
    const { body } = await get('localhost', 'X-Forwarded-Host: evil.com', 'Forwarded: host=evil.com;proto=https')
    expect(findUrls(body)).toEqual(['http://localhost'])
    expectError(await get('evil.com'), 421)
  })

  it('and is valid only for that address: Vary, another ETag', async () => {
    const [first, second] = [await get('localhost:8787'), await get('127.0.0.1:8787')]
    expect(second.headers.etag).not.toBe(first.headers.etag)
    const tag = `If-None-Match: ${first.headers.etag}`
    const [same, other] = [await get('localhost:8787', tag), await get('127.0.0.1:8787', tag)]
    expect([same.status, other.status]).toEqual([304, 200])
    for (const { headers } of [first, second, same, other]) {
      expect(headers.vary.toLowerCase().split(', ').sort()).toEqual(['accept-encoding', 'host'])
    }
    expect((await get('localhost:8787')).headers.etag).toBe(first.headers.etag)
  })
})
