import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseErrorObject, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, RENDERED, weekPath } from '../../support/synthetic-tree.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const tree = useTestServer()
const requestRange = (range: string, headers: Record<string, string> = {}) =>
  tree.request(PATH, { headers: { range, ...headers } })
let bytes: Buffer
let tag: string

beforeAll(async () => {
  bytes = readFileSync(join(tree.root(), PATH))
  tag = String((await tree.request(PATH)).headers.etag)
})

/** Expects 206 with the bytes from `start` to `end` (exclusive) and matching header fields. */
function expectPart({ status, headers, body }: TestResponse, start: number, end: number): void {
  expect(status).toBe(206)
  expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/${bytes.length}`)
  expect(headers['content-length']).toBe(String(end - start))
  expect(headers.etag).toBe(tag)
  expect(headers).not.toHaveProperty('content-encoding')
  expect(body.equals(bytes.subarray(start, end))).toBe(true)
}

function expectWhole({ status, headers, body }: TestResponse): void {
  expect(status).toBe(200)
  expect(headers).not.toHaveProperty('content-range')
  expect(headers['content-length']).toBe(String(bytes.length))
  expect(body.equals(bytes)).toBe(true)
}

function expectUnsatisfiable(response: TestResponse): void {
  expect(response.status).toBe(416)
  expect(response.headers['content-range']).toBe(`bytes */${bytes.length}`)
  expect(parseErrorObject(response)).toEqual({ statusCode: 416, message: expect.any(String), isError: true })
}

describe('one range is responseed with exactly its bytes', () => {
  it.each<[string, string, (size: number) => [number, number]]>([
    ['the first byte', 'bytes=0-0', () => [0, 1]],
    ['some of the middle', 'bytes=123-456', () => [123, 457]],
    ['an open one', 'bytes=200-', size => [200, size]],
    ['the last byte', 'bytes=-1', size => [size - 1, size]],
    ['one that ends far beyond the end', 'bytes=10-999999999', size => [10, size]],
  ])('%s: %s', async (_, range, toBounds) => {
    expectPart(await requestRange(range), ...toBounds(bytes.length))
  })

  it('cut from the uncoded bytes, whatever codings the client accepts', async () => {
    expectPart(await requestRange('bytes=5-50', { 'accept-encoding': 'gzip, br' }), 5, 51)
  })
})

describe('a range beyond the body is 416, with the size of the body', () => {
  it.each<[string, (size: number) => string]>([
    ['one byte beyond the end', size => `bytes=${size}-`],
    ['beyond every number', () => 'bytes=99999999999999999999-'],
  ])('%s', async (_, range) => expectUnsatisfiable(await requestRange(range(bytes.length))))
})

describe('unsupported ranges get the whole body', () => {
  it.each([
    ['several ranges', 'bytes=0-9,20-29'],
    ['another unit', 'items=0-9'],
    ['no unit', '0-9'],
    ['words', 'bytes=first-last'],
    ['nothing on both sides', 'bytes=-'],
  ])('%s: %s', async (_, range) => expectWhole(await requestRange(range)))

  it('HEAD ignores ranges', async () => {
    for (const coding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': coding }
      const get = await tree.request(PATH, { headers })
      const head = await tree.request(PATH, { method: 'HEAD', headers: { ...headers, range: 'bytes=0-9' } })
      expect([head.status, head.headers['content-length']]).toEqual([200, String(get.body.length)])
      expect(head.headers.etag).toBe(get.headers.etag)
      expect(head.headers).not.toHaveProperty('content-range')
    }
    expect((await tree.request(PATH, { method: 'HEAD', headers: { range: 'bytes=999999-' } })).status).toBe(200)
  })
})

describe('If-Range', () => {
  const date = (time: number) => new Date(time).toUTCString()
  it.each<[string, () => string, boolean]>([
    ['the tag', () => tag, true],
    ['the time it was modified', () => date(RENDERED), true],
    ['another tag', () => '"other"', false],
    ['the tag made weak', () => `W/${tag}`, false],
    ['an earlier time', () => date(RENDERED - 1000), false],
  ])('with %s', async (_, value, isSame) => {
    const response = await requestRange('bytes=7-70', { 'if-range': value() })
    if (isSame) expectPart(response, 7, 71)
    else expectWhole(response)
  })

  it('for another version allows a range beyond the body', async () => {
    expectWhole(await requestRange('bytes=999999-', { 'if-range': '"other"' }))
    expectUnsatisfiable(await requestRange('bytes=999999-', { 'if-range': tag }))
  })
})
