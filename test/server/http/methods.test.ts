import { describe, expect, it } from 'vitest'
import { expectError, expectErrorHeaders } from '../../support/servers/error-response.js'
import { USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { rawRequest } from '../../support/servers/raw-client.js'
import { FULL_WEEKS, weekPath } from '../../support/synthetic-tree.js'

const READ = 'GET, HEAD, OPTIONS'
/** Each kind of path and its methods. */
const PATHS: [string, string][] = [
  ['/', READ],
  ['/reference', READ],
  ['/docs/page.js', READ],
  ['/chart/BTCUSDT/1h', READ],
  ['/viewer/main.js', READ],
  ['/api/klines/symbols.json', READ],
  [`/${weekPath('BTCUSDT', FULL_WEEKS[0])}`, READ],
  ['/api/openapi.json', READ],
  ['/api/streams/tokens', READ],
  [USER_TARGET, 'POST, OPTIONS'],
]
const UNKNOWN = ['/nope', '/api/', '/docs/page.js.map']
const ALL_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']

/** With a body of an unsupported type: the method is checked before the body. */
const request = (method: string, path: string) =>
  rawRequest(`${method} ${path}`, ['Content-Type: image/png', 'Content-Length: 3'], 'abc')

describe('methods', () => {
  const server = useHttpServer()

  it.each(PATHS)('%s has %s, and 405 for every other method', async (path, allow) => {
    const others = ALL_METHODS.filter(method => !allow.split(', ').includes(method))
    for (const method of others) {
      const head = method === 'HEAD'
      const response = await server.sendRaw(request(method, path), { head })
      if (head) expectErrorHeaders(response, 405)
      else expect(expectError(response, 405).message).toContain(allow)
      expect([method, response.headers.allow]).toEqual([method, allow])
    }
  })

  it.each(PATHS)('%s lists its methods with OPTIONS: %s', async (path, allow) => {
    const { status, headers, body } = await server.sendRaw(rawRequest(`OPTIONS ${path}`))
    expect([status, headers.allow, body.length]).toEqual([204, allow, 0])
    // Pages of any site may read the data, not what this server has; only its own pages may send an update.
    const isPage = path === '/' || /^\/(chart|reference|docs|viewer)/.test(path)
    const cors =
      allow === READ && !isPage
        ? { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, HEAD' }
        : {}
    const fields = Object.entries(headers).filter(([name]) => /^access-control-allow-(origin|methods)$/.test(name))
    expect(Object.fromEntries(fields)).toEqual(cors)
  })

  it.each(UNKNOWN)('%s is 404 for every method', async path => {
    for (const method of ALL_METHODS) {
      const head = method === 'HEAD'
      const response = await server.sendRaw(request(method, path), { head })
      if (head) expectErrorHeaders(response, 404)
      else expectError(response, 404)
    }
  })

  it('the server is no proxy', async () => {
    const target = 'evil.com:443'
    const response = await server.sendRaw(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    expectError(response, 405)
    expect(response.headers).toMatchObject({ allow: 'GET, HEAD, OPTIONS, POST', connection: 'close' })
  })
})
