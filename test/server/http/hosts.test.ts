import { describe, expect, it } from 'vitest'
import { catchError } from '../../support/errors.js'
import { expectError } from '../../support/servers/error-response.js'
import { useHttpServer } from '../../support/servers/http-server.js'
import { sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer } from '../../support/servers/test-server.js'

const SYMBOLS = '/api/klines/symbols.json'

const OWN = ['localhost', 'LocalHost:8787', 'localhost.', 'app.localhost', '127.0.0.1:8787', '8.8.8.8', '[::1]:8787']

/** Names of other hosts, and IP addresses in forms that no browser sends: browsers normalize them. */
const FOREIGN = [
  ...['evil.com:8787', 'localhost.evil.com', '127.0.0.1.nip.io:8787', 'notlocalhost', 'xn--lcalhost-9xa'],
  ...['2130706433', '0x7f.1', '127.1', '127.0.0.256', '[127.0.0.1]'],
]

const MALFORMED = [
  ...['', ':80', '.localhost', 'a..localhost', 'localhost:x', 'localhost:99999', 'local host', 'localhost,evil.com'],
  ...['user@localhost', 'localhost/', 'localhost%00', '*', '::1', '[::1', 'l\xf6calhost'],
]

/** Requests with no or several Host fields, or with a target that is no path. */
const LINES: [number, string[]][] = [
  [400, [`GET ${SYMBOLS} HTTP/1.1`]],
  [200, [`GET ${SYMBOLS} HTTP/1.0`]],
  [421, [`GET ${SYMBOLS} HTTP/1.0`, 'Host: evil.com']],
  [400, [`GET ${SYMBOLS} HTTP/1.1`, 'Host: localhost', 'Host: evil.com']],
  [400, [`GET ${SYMBOLS} HTTP/1.1`, 'hOST: evil.com', 'X: y', 'HOST: localhost']],
  [
    200,
    [`GET ${SYMBOLS} HTTP/1.1`, 'Host: localhost', 'X-Forwarded-Host: evil.com', 'X: Host', 'Forwarded: host=evil.com'],
  ],
  [400, [`GET http://localhost${SYMBOLS} HTTP/1.1`, 'Host: localhost']],
  [400, [`GET http://evil.com${SYMBOLS} HTTP/1.1`, 'Host: localhost']],
  [400, [`GET ftp://evil.com${SYMBOLS} HTTP/1.1`, 'Host: localhost']],
  [400, ['OPTIONS * HTTP/1.1', 'Host: localhost']],
  [421, [`GET http://localhost${SYMBOLS} HTTP/1.1`, 'Host: evil.com']],
  [421, [`POST /api/users/%zz HTTP/1.1`, 'Host: evil.com']],
  [421, ['OPTIONS * HTTP/1.1', 'Host: evil.com']],
  [421, ['DELETE /nope HTTP/1.1', 'Host: evil.com']],
]

describe('the server answers only for its own names', () => {
  const server = useHttpServer()
  const request = (host: string) => Buffer.from(`GET ${SYMBOLS} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1')

  it.each(OWN)('200 for %j', async host => {
    expect((await server.sendRaw(request(host))).status).toBe(200)
  })

  it.each(FOREIGN)('421 for %j', async host => {
    expectError(await server.sendRaw(request(host)), 421)
  })

  it('the 421 says how to allow a name', async () => {
    const { body } = await server.sendRaw(request('Klines.:8787'))
    expect(JSON.parse(String(body)).message).toContain('klines serve --allow-host klines.')
  })

  it.each(MALFORMED)('400 for %j', async host => {
    expectError(await server.sendRaw(request(host)), 400)
  })

  it.each(LINES)('%i for %j', async (status, lines) => {
    const response = await server.sendRaw(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
    if (status === 200) expect(response.status).toBe(200)
    else expectError(response, status)
  })

  it('every path and method is checked', async () => {
    const paths = ['/', '/docs/page.js', '/api/openapi.json', '/api/static/openapi.json', '/api/streams/tokens', '/x']
    for (const path of [...paths, '/api/users/x?notify=y']) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
        expectError(await server.sendRaw(`${method} ${path} HTTP/1.1\r\nHost: rebound.example:8787\r\n\r\n`), 421)
      }
    }
  })

  it('a name that is allowed is its own, and no similar one', async () => {
    const { url } = await startTestServer(server.root(), { allowHost: ['Served.example.', ' other.example:443', ''] })
    const requestStatus = async (host: string) => (await sendRaw(url, request(host))).status
    for (const host of [
      'served.example',
      'SERVED.Example:8787',
      'served.example.',
      'other.example',
      'localhost',
      '[::1]',
    ]) {
      expect([host, await requestStatus(host)]).toEqual([host, 200])
    }
    for (const host of ['served.example.evil.com', 'a.served.example', 'example', 'served-example', 'evil.com']) {
      expect([host, await requestStatus(host)]).toEqual([host, 421])
    }
  })

  it.each(['*', '*.x.com', 'https://x.com', 'x.com/', 'x.com:65536', 'a b', 'a..b', 'ä.de', '::1', '', '.'])(
    'a name that no Host header can have is refused: %j',
    async name => {
      const error = await catchError(startTestServer(server.root(), { allowHost: [name], host: '0.0.0.0' }))
      expect(error).toMatchObject({
        code: 'bad_option',
        message: expect.stringContaining(`--allow-host is "${name}".`),
      })
    },
  )

  it('a server on another address than the loopback answers for any name, and names its addresses', async () => {
    const { url, otherUrls } = await startTestServer(server.root(), { host: '0.0.0.0' })
    for (const host of ['klines.example', '192.0.2.1', 'localhost']) {
      expect([host, (await sendRaw(url, request(host))).status]).toEqual([host, 200])
    }
    expectError(await sendRaw(url, request('a..b')), 400)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    for (const other of otherUrls) expect(other).toMatch(/^http:\/\/[\d.]+:\d+$/)
  })
})
