import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeBody } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'

const PLAIN = Buffer.from(JSON.stringify(['BTCUSDT', 'ETHUSDT']))
const MIB = 1024 * 1024

describe('decodeBody', () => {
  it.each<[string | undefined, Buffer]>([
    [undefined, PLAIN],
    ['', PLAIN],
    ['identity', PLAIN],
    // What fronts write that encode nothing.
    ...['aws-chunked', 'UTF-8', 'utf8', 'none', 'binary', 'charset=utf-8'].map((name): [string, Buffer] => [
      name,
      PLAIN,
    ]),
    ['aws-chunked, gzip', gzipSync(PLAIN)],
    ['gzip', gzipSync(PLAIN)],
    ['GZIP ', gzipSync(PLAIN)],
    ['x-gzip', gzipSync(PLAIN)],
    ['br', brotliCompressSync(PLAIN)],
  ])('decodes content encoding %j', async (coding, body) => {
    expect((await decodeBody(body, coding)).equals(PLAIN)).toBe(true)
  })

  it('accepts an empty body: a 304 or 404 may name the coding of the file', async () => {
    expect((await decodeBody(Buffer.alloc(0), 'gzip')).length).toBe(0)
  })

  const flipped = gzipSync(PLAIN)
  flipped[flipped.length - 6] ^= 0xff
  it.each<[string, string, Buffer]>([
    ['nested codings', 'gzip, gzip', gzipSync(gzipSync(PLAIN))],
    ['an unknown coding', 'zstd', PLAIN],
    ['cut gzip', 'gzip', gzipSync(PLAIN).subarray(0, -9)],
    ['cut br', 'br', brotliCompressSync(PLAIN).subarray(0, -2)],
    ['gzip with a wrong checksum', 'gzip', flipped],
    ['plain bytes labelled gzip', 'gzip', PLAIN],
  ])('rejects a body as invalid: %s', async (_, coding, body) => {
    expect(await catchError(decodeBody(body, coding))).toMatchObject({ name: 'FetchError', kind: 'invalid' })
  })

  it.each([
    ['gzip', gzipSync],
    ['br', (body: Buffer) => brotliCompressSync(body, { params: { 1: 1 } })],
  ] as const)(
    'accepts a %s body of exactly 16 MiB when decoded; one byte more is a permanent error',
    async (coding, compress) => {
      expect((await decodeBody(compress(Buffer.alloc(16 * MIB)), coding)).length).toBe(16 * MIB)
      expect(await catchError(decodeBody(compress(Buffer.alloc(16 * MIB + 1)), coding))).toMatchObject({
        name: 'FetchError',
        kind: 'permanent',
      })
    },
  )
})
