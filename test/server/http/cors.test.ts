import { describe, expect, it } from 'vitest'
import { type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, FUTURE_WEEK, weekPath } from '../../support/synthetic-tree.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const USER = '/api/users/123e4567-e89b-12d3-a456-426614174000'
const ORIGIN = { origin: 'https://elsewhere.example' }
const tree = useTestServer()

/** Names of the CORS header fields of a response. */
const findCorsFields = ({ headers }: TestResponse) =>
  Object.keys(headers).filter(name => name.startsWith('access-control-'))

describe('pages of other sites may read', () => {
  it.each<[string, number, string, Record<string, string>]>([
    ['a window', 200, PATH, {}],
    ['a window of the future', 200, weekPath('ETHUSDT', FUTURE_WEEK), {}],
    ['a description', 200, '/api/openapi.json', {}],
    ['an unmodified window', 304, PATH, { 'if-none-match': '*' }],
    ['a missing window', 404, weekPath('DOTUSDT', FULL_WEEKS[0]), {}],
    ['a path without GET', 405, USER, {}],
  ])('%s: %i', async (_, status, path, headers) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await tree.request(path, { method, headers: { ...ORIGIN, ...headers } })
      expect([method, response.status, response.headers['access-control-allow-origin']]).toEqual([method, status, '*'])
      expect(response.headers['access-control-expose-headers']).toBe(
        'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Retry-After, Warning',
      )
      expect(response.headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  it.each([
    ['a range', 206, 'bytes=0-9'],
    ['a range beyond the body', 416, 'bytes=999999-'],
  ])('%s: %i', async (_, status, range) => {
    const response = await tree.request(PATH, { headers: { ...ORIGIN, range } })
    expect([response.status, response.headers['access-control-allow-origin']]).toEqual([status, '*'])
    expect(response.headers['access-control-expose-headers']).toContain('Content-Range')
  })

  it.each([PATH, '/api/openapi.json'])('after a preflight: %s', async path => {
    const preflight = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match' }
    const response = await tree.request(path, { method: 'OPTIONS', headers: { ...ORIGIN, ...preflight } })
    expect([response.status, response.body.length]).toEqual([204, 0])
    expect(response.headers['access-control-allow-origin']).toBe('*')
    expect(response.headers['access-control-allow-methods']?.split(', ').sort()).toEqual(['GET', 'HEAD'])
    expect(response.headers['access-control-allow-headers']).toBe('*')
    expect(response.headers.allow).toBe('GET, HEAD, OPTIONS')
  })
})

describe('pages of other sites may not', () => {
  it('post', async () => {
    for (const path of [USER, PATH, '/nothing']) {
      const response = await tree.request(path, { method: 'POST', headers: ORIGIN })
      expect(response.status, path).toBeGreaterThanOrEqual(400)
      expect(findCorsFields(response), path).toEqual([])
    }
  })

  it('read pages, what the viewer reads, or their errors', async () => {
    for (const [path, status] of [
      ['/', 200],
      ['/coverage.json', 200],
      ['/chart/BTCUSDT/15m', 200],
      ['/coverage/1s/BTCUSDT.json', 404],
    ] as const) {
      const response = await tree.request(path, { headers: ORIGIN })
      expect([path, response.status, findCorsFields(response)]).toEqual([path, status, []])
    }
    expect(findCorsFields(await tree.request('/', { method: 'OPTIONS', headers: ORIGIN }))).toEqual([])
  })

  it('get permission to post from a preflight', async () => {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    const response = await tree.request(USER, { method: 'OPTIONS', headers: { ...ORIGIN, ...preflight } })
    expect(findCorsFields(response)).toEqual([])
    const other = await tree.request(PATH, { method: 'OPTIONS', headers: { ...ORIGIN, ...preflight } })
    expect(other.headers['access-control-allow-methods']).not.toContain('POST')
  })
})
