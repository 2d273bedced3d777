import { describe, expect, it } from 'vitest'
import { parseErrorObject, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, FUTURE_WEEK, weekPath } from '../../support/synthetic-tree.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const USER = '/api/users/123e4567-e89b-12d3-a456-426614174000'
const ORIGIN = { origin: 'https://elsewhere.example' }
const tree = useTestServer()

/** Header fields of the CORS protocol. */
const corsOf = ({ headers }: TestResponse) => Object.keys(headers).filter(name => name.startsWith('access-control-'))

describe('pages of other sites may read', () => {
  it.each<[string, number, string, Record<string, string>]>([
    ['a window', 200, PATH, {}],
    ['a window in gzip', 200, PATH, { 'accept-encoding': 'gzip' }],
    ['a window of the future', 200, weekPath('ETHUSDT', FUTURE_WEEK), {}],
    ['a list', 200, 'api/klines/symbols.json', {}],
    ['a description', 200, '/api/openapi.json', {}],
    ['that they have it', 304, PATH, { 'if-none-match': '*' }],
    ['that there is none', 404, weekPath('DOTUSDT', FULL_WEEKS[0]), {}],
    ['that there is no such path', 404, '/nothing', {}],
    ['that it is not for GET', 405, USER, {}],
    ['that no coding is left', 406, PATH, { 'accept-encoding': '*;q=0' }],
    ['that they want another version', 412, PATH, { 'if-match': '"other"' }],
  ])('%s: %i', async (_, status, path, headers) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await tree.request(path, { method, headers: { ...ORIGIN, ...headers } })
      expect([method, answer.status, answer.headers['access-control-allow-origin']]).toEqual([method, status, '*'])
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  it.each([
    ['a part', 206, 'bytes=0-9'],
    ['that there is no such part', 416, 'bytes=999999-'],
  ])('%s: %i', async (_, status, range) => {
    const answer = await tree.request(PATH, { headers: { ...ORIGIN, range } })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([status, '*'])
  })

  it.each([PATH, 'api/klines/symbols.json', 'api/klines/start-dates/1h.json', '/api/openapi.json'])(
    'after a preflight request: %s',
    async path => {
      const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match' }
      const answer = await tree.request(path, { method: 'OPTIONS', headers: { ...ORIGIN, ...asked } })
      expect([answer.status, answer.body.length]).toEqual([204, 0])
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['access-control-allow-methods']?.split(', ').sort()).toEqual(['GET', 'HEAD'])
      expect(answer.headers['access-control-allow-headers']).toBe('*')
      expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
    },
  )
})

describe('pages of other sites may not', () => {
  it('post', async () => {
    for (const path of [USER, PATH, '/nothing']) {
      const answer = await tree.request(path, { method: 'POST', headers: ORIGIN })
      expect(answer.status, path).toBeGreaterThanOrEqual(400)
      expect(corsOf(answer), path).toEqual([])
    }
  })

  it('learn from a preflight request that they might', async () => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    const answer = await tree.request(USER, { method: 'OPTIONS', headers: { ...ORIGIN, ...asked } })
    expect(corsOf(answer)).toEqual([])
    const other = await tree.request(PATH, { method: 'OPTIONS', headers: { ...ORIGIN, ...asked } })
    expect(other.headers['access-control-allow-methods']).not.toContain('POST')
  })
})

describe('a method that a file does not have is 405, and says which it has', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE'])('%s', async method => {
    for (const path of [PATH, 'api/klines/symbols.json', 'api/klines/start-dates/1h.json']) {
      const answer = await tree.request(path, { method })
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
      expect(parseErrorObject(answer)).toEqual({ statusCode: 405, message: expect.any(String), isError: true })
      expect(corsOf(answer)).toEqual([])
    }
  })
})
