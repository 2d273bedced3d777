import { METHODS } from 'node:http'
import { describe, expect, it } from 'vitest'
import { expectError, expectErrorHeaders } from '../../support/servers/error-response.js'
import { USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { rawRequest } from '../../support/servers/raw-client.js'
import { FULL_WEEKS, weekPath } from '../../support/synthetic-tree.js'

const READ = 'GET, HEAD, OPTIONS'
/** Each kind of path, and the methods it has. */
const PATHS: [string, string][] = [
  ['/', READ],
  ['/docs/page.js', READ],
  ['/docs/swagger-ui.css', READ],
  ['/api/klines/symbols.json', READ],
  ['/api/klines/start-dates/15m.json', READ],
  [`/${weekPath('BTCUSDT', FULL_WEEKS[0])}`, READ],
  ['/api/klines/15m/XXX/2025-01-06.json', READ],
  ['/api/openapi.json', READ],
  ['/api/static/openapi.json', READ],
  ['/api/streams/tokens', READ],
  [USER_TARGET, 'POST, OPTIONS'],
  ['/api/users/anybody', 'POST, OPTIONS'],
]
const NOWHERE = ['/nope', '/api', '/api/', '/api/users', '/api/klines/', '/docs', '/docs/', '/docs/page.js.map']
const OTHERS = METHODS.filter(method => method !== 'CONNECT')

/** The body is of a type that nobody has: a method is refused before its body is looked at. */
const request = (method: string, path: string) =>
  rawRequest(`${method} ${path}`, ['Content-Type: image/png', 'Content-Length: 3'], 'abc')

describe('methods', () => {
  const server = useHttpServer()

  it.each(PATHS)('%s has %s, and 405 for all else that Node can read', async (path, allow) => {
    const refused = OTHERS.filter(method => !allow.split(', ').includes(method))
    expect(refused.length).toBeGreaterThan(28)
    for (const method of refused) {
      const head = method === 'HEAD'
      const answer = await server.sendRaw(request(method, path), { head })
      if (head) expectErrorHeaders(answer, 405)
      else expect(expectError(answer, 405).message).toContain(allow)
      expect([method, answer.headers.allow]).toEqual([method, allow])
    }
  })

  it.each(PATHS)('%s says with OPTIONS what it has: %s', async (path, allow) => {
    const { status, headers, body } = await server.sendRaw(rawRequest(`OPTIONS ${path}`))
    expect([status, headers.allow, body.length]).toEqual([204, allow, 0])
    // Reading is for all pages, an update for none but our own.
    const cors =
      allow === READ ? { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, HEAD' } : {}
    const found = Object.entries(headers).filter(([name]) => /^access-control-allow-(origin|methods)$/.test(name))
    expect(Object.fromEntries(found)).toEqual(cors)
  })

  it.each(NOWHERE)('%s is nowhere for every method', async path => {
    for (const method of OTHERS) {
      const head = method === 'HEAD'
      const answer = await server.sendRaw(request(method, path), { head })
      if (head) expectErrorHeaders(answer, 404)
      else expectError(answer, 404)
    }
  })

  it.each(['evil.com:443', 'localhost:80', '127.0.0.1:8787'])('this is no proxy to %s', async target => {
    const answer = await server.sendRaw(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    expectError(answer, 405)
    expect(answer.headers).toMatchObject({ allow: 'GET, HEAD, OPTIONS, POST', connection: 'close' })
  })

  it('HEAD has the header of GET and no body', async () => {
    for (const [path, allow] of PATHS) {
      if (allow !== READ || path === '/api/streams/tokens') continue
      const get = await server.sendRaw(rawRequest(`GET ${path}`))
      const { headers, status, body } = await server.sendRaw(rawRequest(`HEAD ${path}`), { head: true })
      const { date: _, ...wanted } = get.headers
      expect([status, headers, body.length]).toEqual([get.status, { ...wanted, date: headers.date }, 0])
    }
  })
})
