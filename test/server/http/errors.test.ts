import { describe, expect, it } from 'vitest'
import { expectError, expectErrorHeaders } from '../../support/servers/error-response.js'
import { USER, USER_BODY, USER_PATH, USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawPost, rawRequest } from '../../support/servers/raw-client.js'
import { FULL_WEEKS, weekPath } from '../../support/synthetic-tree.js'

const SYMBOLS = '/api/klines/symbols.json'
const JSON_TYPE = 'Content-Type: application/json'
const get = (headers: string[], target = SYMBOLS) => rawRequest(`GET ${target}`, headers)
const post = (headers: string[], body = '') => rawRequest(`POST ${USER_TARGET}`, headers, body)
const chunked = (body: string) => post([JSON_TYPE, 'Transfer-Encoding: chunked'], body)
const line = (text: string, ...headers: string[]) => [text, ...headers, '', ''].join('\r\n')
/** Its response takes longer than reading the body. */
const SLOW_GET = get(['Transfer-Encoding: chunked', 'Accept-Encoding: br'], `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`)

/** The parser of Node 20.18, llhttp 8, lets these two pass: no file has such a path, and no one reads such a field. */
const LLHTTP_8 = process.versions.llhttp?.startsWith('8.') ?? false
const UNREADABLE_SINCE_LLHTTP_9: [string, number, Buffer][] = [
  ['a byte beyond ASCII in the target', 400, rawRequest('GET /\xff')],
  ['a field name with a blank', 400, get(['a b: c'])],
]

/** Requests that are not HTTP/1.1, or too large. */
const UNREADABLE: [string, number, string | Buffer, RegExp?][] = [
  ['words', 400, 'hello\r\n\r\n'],
  ['a TLS handshake', 400, Buffer.from('16030100a5010000a10303', 'hex')],
  ['an unknown method', 400, line('BREW / HTTP/1.1', 'Host: localhost')],
  ['an asterisk with GET', 400, rawRequest('GET *')],
  ['a control character in the target', 400, rawRequest('GET /\x01')],
  ['HTTP/1.2', 400, line('GET / HTTP/1.2', 'Host: localhost')],
  ['a field without a colon', 400, get(['abc'])],
  ['a length that is no number', 400, post(['Content-Length: ten'])],
  ['two lengths', 400, post(['Content-Length: 1', 'Content-Length: 2'], 'xx')],
  ['a length and chunks', 400, post(['Content-Length: 1', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['a chunk without a size', 400, chunked('zz\r\n')],
  ['a GET with a broken body, while its response is prepared', 400, Buffer.concat([SLOW_GET, Buffer.from('zz\r\n')])],
  ['a huge field', 431, get([`a: ${'b'.repeat(20_000)}`]), /header fields are too large/],
  ['a long target', 414, rawRequest(`GET /${'a'.repeat(4_096)}`)],
  ['a long query', 414, rawRequest(`GET ${SYMBOLS}?${'a'.repeat(5_000)}`)],
  ['endless trailers', 431, chunked(`0\r\na: ${'b'.repeat(20_000)}`), /header fields are too large/],
]

/** Well-formed requests that get an error. */
const REJECTED: [string, number, Buffer, RegExp?][] = [
  ['an escape without digits', 400, rawRequest('GET /%')],
  ['a broken escape on the path of a body', 400, rawRequest('POST /api/users/%zz')],
  ['no JSON', 400, rawPost(USER_TARGET, '{"email":'), /JSON/],
  ['an empty body', 400, rawPost(USER_TARGET, ''), /empty/],
  ['the key __proto__', 400, rawPost(USER_TARGET, USER_BODY.replace('{', '{"__proto__":{"admin":true},'))],
  ['a constructor', 400, rawPost(USER_TARGET, USER_BODY.replace('{', '{"constructor":{"prototype":{}},'))],
  ['an unknown path', 404, rawRequest('GET /nope')],
  ['an unknown path, too large a body', 404, rawPost('/nope', Buffer.alloc(100_000))],
  ['another scheme', 400, rawRequest(`GET ftp://localhost${SYMBOLS}`)],
  ['a window that is not mirrored', 404, rawRequest('GET /api/klines/1d/BTCUSDT/2016-01-01.json')],
  ['a window that cannot exist', 404, rawRequest('GET /api/klines/15m/BTCUSDT/2025-01-07.json')],
  ['a long body', 413, rawPost(USER_TARGET, 'x'.repeat(16_385))],
  ['the length of a long body', 413, post([JSON_TYPE, 'Content-Length: 99999999999'])],
  ['long chunks', 413, chunked(`${'4000\r\n'.concat('x'.repeat(0x4000), '\r\n').repeat(5)}0\r\n\r\n`)],
  ['another type', 415, rawPost(USER_TARGET, USER_BODY, 'text/plain')],
  ['a range outside', 416, get(['Range: bytes=1000000-'])],
  ['another expectation', 417, get(['Expect: gold'])],
  ['another host', 421, Buffer.from(line(`GET ${SYMBOLS} HTTP/1.1`, 'Host: evil.com'))],
]

describe('every error is the error object', () => {
  const server = useHttpServer()

  it.skipIf(LLHTTP_8).each(UNREADABLE_SINCE_LLHTTP_9)('%s: %i (skipped on llhttp 8)', async (_, status, bytes) => {
    expectError(await server.sendRaw(bytes), status)
  })

  it.each(UNREADABLE)('%s: %i', async (_, status, bytes, pattern = /./) => {
    expect(expectError(await server.sendRaw(bytes), status).message).toMatch(pattern)
  })

  it.each(REJECTED)('%s: %i', async (_, status, bytes, pattern = /./) => {
    const response = await server.sendRaw(bytes)
    expect(expectError(response, status).message).toMatch(pattern)
    if (status === 416) expect(response.headers['content-range']).toMatch(/^bytes \*\/\d+$/)
  })

  it.each(REJECTED.filter(([, , bytes]) => bytes.toString().startsWith('GET ')))(
    '%s: %i, without a body for HEAD',
    async (_, status, bytes) => {
      if (status === 416) return
      const client = await RawClient.open(server.url())
      client.send(Buffer.concat([Buffer.from(`HEAD${bytes.toString('latin1').slice(3)}`, 'latin1')]))
      const response = await client.next({ head: true })
      expectErrorHeaders(response, status)
      client.socket.end()
      await client.closed
      expect(client.rest.toString()).toBe('')
    },
  )

  it('cause names each wrong field of params, query and body', async () => {
    const findFields = async (target: string, body: unknown) => {
      const { message, cause } = expectError(await server.sendRaw(rawPost(target, JSON.stringify(body))), 400)
      const faults = cause as { field: string; message: string }[]
      for (const fault of faults)
        expect(fault).toEqual({ field: fault.field, message: expect.stringMatching(/^\S+ ./) })
      expect(message).toContain(faults[0].field)
      return faults.map(({ field, message }) => (message === 'is missing' ? `no ${field}` : field)).sort()
    }
    expect(await findFields('/api/users/x?notify=', { email: 1, profile: { name: 2, age: '3' } })).toEqual([
      ...['body.email', 'body.profile.age', 'body.profile.name', 'params.id', 'query.notify'],
    ])
    const missing = ['no body.profile.age', 'no body.profile.name', 'no query.notify']
    expect(await findFields(USER_PATH, { ...USER, profile: {} })).toEqual(missing)
    expect(await findFields(USER_TARGET, [])).toEqual(['body'])
    expect(server.errors).toEqual([])
  })
})
