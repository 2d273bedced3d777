import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeWindow } from '../../support/servers/raw-requests.js'
import { stableHeaders, startTestServer, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, putFile, RENDERED, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const date = (time: number) => new Date(time).toUTCString()
const tree = useTestServer()
/** The response without a condition, and the tag of each coding. */
let whole: TestResponse
let tags: Record<'identity' | 'gzip' | 'br', string>

beforeAll(async () => {
  whole = await tree.request(PATH)
  const tagIn = async (coding: string) =>
    String((await tree.request(PATH, { headers: { 'accept-encoding': coding } })).headers.etag)
  tags = { identity: String(whole.headers.etag), gzip: await tagIn('gzip'), br: await tagIn('br') }
})

const requestWith = (headers: Record<string, string>) => tree.request(PATH, { headers })

describe('ETags', () => {
  it('are strong, and differ between codings', () => {
    for (const tag of Object.values(tags)) expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/)
    expect(new Set(Object.values(tags)).size).toBe(3)
  })

  it('depend on the bytes only', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    expect((await request(PATH)).headers.etag).toBe(tags.identity)
    putFile(root, PATH, '[]', RENDERED)
    const other = (await request(PATH)).headers.etag
    expect(other).not.toBe(tags.identity)
    putFile(root, PATH, readFileSync(join(tree.root(), PATH)), RENDERED + 60_000)
    expect((await request(PATH)).headers.etag).toBe(tags.identity)
  })

  it.each(['identity', 'gzip', 'br'])('in %s: the last digit of a long window makes another one', async coding => {
    const root = tempFolder()
    const { request } = await startTestServer(root)
    const before = String(makeWindow(160))
    const get = (headers = {}) => request(PATH, { headers: { 'accept-encoding': coding, ...headers } })
    putFile(root, PATH, before)
    const { etag } = (await get()).headers
    const changed = before.replace(/"0"\]\]$/, '"1"]]')
    // In place, of the same size and time.
    putFile(root, PATH, changed)
    if (coding === 'identity') expect(String((await get()).body)).toBe(changed)
    const after = await get({ 'if-none-match': String(etag) })
    expect([after.status, after.headers.etag === etag]).toEqual([200, false])
    expect((await get({ 'if-none-match': String(after.headers.etag) })).status).toBe(304)
  })
})

describe('If-None-Match responses 304', () => {
  it.each<[string, () => string]>([
    ['for the tag', () => tags.identity],
    ['for the tag made weak, as some proxies do', () => `W/${tags.identity}`],
    ['for a list with the tag', () => `"other", ${tags.identity}, "another"`],
    ['for *', () => '*'],
  ])('%s', async (_, tag) => {
    const response = await requestWith({ 'if-none-match': tag() })
    expect([response.status, response.body.length]).toEqual([304, 0])
  })

  it.each(['gzip', 'br'] as const)('for the tag of %s only in that coding', async coding => {
    const requestAs = (accepted: string) => requestWith({ 'if-none-match': tags[coding], 'accept-encoding': accepted })
    expect((await requestAs(coding)).status).toBe(304)
    for (const other of ['identity', 'gzip', 'br'].filter(name => name !== coding)) {
      expect((await requestAs(other)).status, other).toBe(200)
    }
  })

  it('with the header fields that a cache updates, and no body and no length', async () => {
    const response = await requestWith({ 'if-none-match': tags.identity })
    const { etag, vary, 'cache-control': control, 'last-modified': modified } = whole.headers
    expect(response.headers).toMatchObject({ etag, vary, 'cache-control': control, 'last-modified': modified })
    expect(modified).toBe(date(RENDERED))
    expect(response.headers).not.toHaveProperty('content-length')
    expect(response.headers).not.toHaveProperty('content-encoding')
    expect(response.body).toHaveLength(0)
  })
})

describe('If-None-Match responses 200', () => {
  it.each<[string, () => string]>([
    ['for another tag', () => '"other"'],
    ['for the tag without its quotes', () => tags.identity.slice(1, -1)],
  ])('%s', async (_, tag) => {
    const response = await requestWith({ 'if-none-match': tag() })
    expect([response.status, response.body.equals(whole.body)]).toEqual([200, true])
  })

  it('for another tag whatever If-Modified-Since says, as If-None-Match takes precedence', async () => {
    const later = date(RENDERED + 1000)
    expect((await requestWith({ 'if-none-match': '"other"', 'if-modified-since': later })).status).toBe(200)
    const before = date(RENDERED - 1000)
    expect((await requestWith({ 'if-none-match': tags.identity, 'if-modified-since': before })).status).toBe(304)
  })
})

describe('If-Modified-Since', () => {
  it.each<[string, number, () => string]>([
    ['the time it was modified', 304, () => date(RENDERED)],
    ['a later time', 304, () => date(RENDERED + 1000)],
    ['an earlier time', 200, () => date(RENDERED - 1000)],
    ['the format of RFC 850', 304, () => 'Wednesday, 12-Feb-25 03:17:00 GMT'],
  ])('%s: %i', async (_, status, since) => {
    expect((await requestWith({ 'if-modified-since': since() })).status).toBe(status)
  })
})

describe('the Cache-Control of a request does not matter', () => {
  it.each(['no-cache', 'max-age=0'])('%s', async control => {
    expect((await requestWith({ 'if-none-match': tags.identity, 'cache-control': control })).status).toBe(304)
    const since = { 'if-modified-since': date(RENDERED), 'cache-control': control }
    expect((await requestWith(since)).status).toBe(304)
  })
})

describe('HEAD has the header fields of GET, with the length, and no body', () => {
  it.each<[string, number, string, Record<string, string>]>([
    ['the page', 200, '/', {}],
    ['a chart', 200, '/chart/BTCUSDT/1h', {}],
    ['a script', 200, '/viewer/main.js', {}],
    ['the symbols', 200, '/api/klines/symbols.json', {}],
    ['a description', 200, '/api/openapi.json', {}],
    ['a window', 200, PATH, {}],
    ['an open window', 200, weekPath('BTCUSDT', OPEN_WEEK), {}],
    ['a window in gzip', 200, PATH, { 'accept-encoding': 'gzip' }],
    ['a window the client has', 304, PATH, { 'if-modified-since': date(RENDERED) }],
    ['a missing window', 404, weekPath('DOTUSDT', FULL_WEEKS[0]), {}],
    ['an unknown path', 404, '/nothing', {}],
    ['a path with only POST', 405, '/api/users/123e4567-e89b-12d3-a456-426614174000', {}],
  ])('%s: %i', async (_, status, path, headers) => {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map(method => tree.request(path, { method, headers })))
    expect([get.status, head.status]).toEqual([status, status])
    expect(stableHeaders(head)).toEqual(stableHeaders(get))
    expect(head.body).toHaveLength(0)
    if (status !== 304) expect(head.headers['content-length']).toBe(String(get.body.length))
  })
})
