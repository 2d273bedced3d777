import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseErrorObject, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, RENDERED, weekPath } from '../../support/synthetic-tree.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const tree = useTestServer()
const ranged = (range: string, headers: Record<string, string> = {}) =>
  tree.request(PATH, { headers: { range, ...headers } })
let bytes: Buffer
let tag: string

beforeAll(async () => {
  bytes = readFileSync(join(tree.root(), PATH))
  tag = String((await tree.request(PATH)).headers.etag)
})

/** A 206 with the bytes from `start` up to and without `end`, said so in every field. */
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

function expectOutside(answer: TestResponse): void {
  expect(answer.status).toBe(416)
  expect(answer.headers['content-range']).toBe(`bytes */${bytes.length}`)
  expect(parseErrorObject(answer)).toEqual({ statusCode: 416, message: expect.any(String), isError: true })
}

describe('one range is answered with exactly its bytes', () => {
  it('says that it is done', async () => {
    expect((await tree.request(PATH)).headers['accept-ranges']).toBe('bytes')
  })

  it.each<[string, string, (size: number) => [number, number]]>([
    ['the first byte', 'bytes=0-0', () => [0, 1]],
    ['the first hundred', 'bytes=0-99', () => [0, 100]],
    ['some of the middle', 'bytes=123-456', () => [123, 457]],
    ['an open one', 'bytes=200-', size => [200, size]],
    ['all, openly', 'bytes=0-', size => [0, size]],
    ['the last byte', 'bytes=-1', size => [size - 1, size]],
    ['the last hundred', 'bytes=-100', size => [size - 100, size]],
    ['one that ends far beyond the end', 'bytes=10-999999999', size => [10, size]],
  ])('%s: %s', async (_, range, of) => {
    expectPart(await ranged(range), ...of(bytes.length))
  })

  it('any range of bytes there are', async () => {
    const numbers = fc.nat(bytes.length - 1)
    await fc.assert(
      fc.asyncProperty(numbers, numbers, fc.constantFrom('closed', 'open', 'suffix'), async (one, other, form) => {
        const [start, last] = [Math.min(one, other), Math.max(one, other)]
        if (form === 'closed') expectPart(await ranged(`bytes=${start}-${last}`), start, last + 1)
        else if (form === 'open') expectPart(await ranged(`bytes=${start}-`), start, bytes.length)
        else expectPart(await ranged(`bytes=-${start + 1}`), bytes.length - start - 1, bytes.length)
      }),
      { numRuns: 300 },
    )
  })

  it('cut from the bytes themselves, whatever coding the client takes', async () => {
    expectPart(await ranged('bytes=5-50', { 'accept-encoding': 'gzip, br' }), 5, 51)
  })

  it('parts that lie side by side make the file', async () => {
    const cuts = [0, 1, 100, 101, 700, bytes.length]
    const parts = await Promise.all(cuts.slice(1).map((end, index) => ranged(`bytes=${cuts[index]}-${end - 1}`)))
    expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).toBe(true)
  })
})

describe('a range outside is 416, and says how many bytes there are', () => {
  it.each<[string, (size: number) => string]>([
    ['one byte beyond', size => `bytes=${size}-`],
    ['far beyond', size => `bytes=${size + 1000}-${size + 2000}`],
    ['beyond every number', () => 'bytes=99999999999999999999-'],
    ['the last none', () => 'bytes=-0'],
  ])('%s', async (_, range) => expectOutside(await ranged(range(bytes.length))))
})

describe('what we do not do is answered whole', () => {
  it.each([
    ['several ranges', 'bytes=0-9,20-29'],
    ['several ranges with spaces', 'bytes=0-9, 20-29, -5'],
    ['another unit', 'items=0-9'],
    ['another unit, beyond the bytes there are', 'items=999999-1000000'],
    ['no unit', '0-9'],
    ['no range', 'bytes'],
    ['words', 'bytes=first-last'],
    ['a number with a sign', 'bytes=+1-5'],
    ['a broken number', 'bytes=0x1-0x5'],
    ['nothing on both sides', 'bytes=-'],
  ])('%s: %s', async (_, range) => expectWhole(await ranged(range)))

  it('more of the last bytes than there are are all of them', async () => {
    const answer = await ranged(`bytes=-${bytes.length + 1}`)
    expect(answer.body.equals(bytes)).toBe(true)
  })

  it('any text at all is answered with the file, a part of it, or 416', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789-=, bytesBYTES*/'), maxLength: 20 })
    const form = fc.tuple(fc.constantFrom('bytes=', 'bytes =', ''), text).map(([unit, rest]) => `${unit}${rest}`.trim())
    await fc.assert(
      fc.asyncProperty(form, async range => {
        const answer = await ranged(range)
        const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(answer.headers['content-range'] ?? '') ?? []
        if (answer.status === 206) expectPart(answer, Number(first), Number(last) + 1)
        else if (answer.status === 416) expectOutside(answer)
        else expectWhole(answer)
      }),
      { numRuns: 300 },
    )
  })

  it('HEAD has no ranges: what it says is what GET says without one', async () => {
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

  it('a client that takes no uncoded bytes gets all of them coded', async () => {
    const answer = await ranged('bytes=0-9', { 'accept-encoding': 'gzip, identity;q=0' })
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, 'gzip'])
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
    ['a later time', () => date(RENDERED + 1000), false],
    ['neither', () => 'yes', false],
  ])('with %s', async (_, value, same) => {
    const answer = await ranged('bytes=7-70', { 'if-range': value() })
    if (same) expectPart(answer, 7, 71)
    else expectWhole(answer)
  })

  it('of another version makes a range outside no fault', async () => {
    expectWhole(await ranged('bytes=999999-', { 'if-range': '"other"' }))
    expectOutside(await ranged('bytes=999999-', { 'if-range': tag }))
  })

  it('comes after the other conditions', async () => {
    expect((await ranged('bytes=0-9', { 'if-none-match': tag })).status).toBe(304)
    expect((await ranged('bytes=0-9', { 'if-match': '"other"' })).status).toBe(412)
    expectPart(await ranged('bytes=0-9', { 'if-match': tag }), 0, 10)
  })
})
