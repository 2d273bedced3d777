import { createHook } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bigMirror } from '../../support/big-mirror.js'
import { startTestServer, type TestResponse, useTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, FUTURE_WEEK, OPEN_WEEK, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const LIST = 'api/klines/start-dates/2h.json'
const SMALL = ['api/klines/symbols.json', weekPath('ETHUSDT', FUTURE_WEEK)]
const tree = useTestServer()
const accepting = (codings: string, path = PATH) => tree.request(path, { headers: { 'accept-encoding': codings } })

/** Decodes the body by its Content-Encoding. */
function decodeBody({ headers, body }: TestResponse): Buffer {
  const decoders = { gzip: gunzipSync, br: brotliDecompressSync, identity: (bytes: Buffer) => bytes }
  return decoders[(headers['content-encoding'] ?? 'identity') as keyof typeof decoders](body)
}

const readCoding = ({ headers }: TestResponse) => headers['content-encoding'] ?? 'identity'

describe('gzip and br', () => {
  it.each(['gzip', 'br'])('%s decodes to the same bytes, is smaller, and is announced', async coding => {
    for (const path of [PATH, weekPath('ETHUSDT', OPEN_WEEK), LIST]) {
      const [plain, coded] = [await tree.request(path), await accepting(coding, path)]
      expect(coded.status).toBe(200)
      expect(coded.headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(coded.body.length) })
      expect(coded.headers['content-type']).toBe(plain.headers['content-type'])
      expect(coded.body.length).toBeLessThan(plain.body.length)
      expect(decodeBody(coded).equals(plain.body)).toBe(true)
    }
  })

  it('small bodies are not coded', async () => {
    for (const path of SMALL) {
      const response = await accepting('gzip, br', path)
      expect([path, response.status, readCoding(response)]).toEqual([path, 200, 'identity'])
      expect(response.headers['content-length']).toBe(String(response.body.length))
      expect(response.body.length).toBeLessThan(256)
      JSON.parse(String(response.body))
    }
  })
})

describe('the coding is the best one that the client accepts', () => {
  it.each([
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.8', 'br'],
    ['identity, gzip;q=0.5', 'identity'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    // These leave nothing.
    ['identity;q=0', 'identity'],
    ['deflate, *;q=0', 'identity'],
  ])('Accept-Encoding "%s": %s', async (accepted, coding) => {
    const response = await accepting(accepted)
    expect([response.status, readCoding(response)]).toEqual([200, coding])
    expect(decodeBody(response).equals(readFileSync(join(tree.root(), PATH)))).toBe(true)
  })
})

describe('a coding is computed once for a version of a file', () => {
  /** Counts the compressors and decompressors that this process creates during `action`. */
  async function countCompressors(action: () => Promise<unknown>): Promise<number> {
    let count = 0
    const hook = createHook({ init: (_id, type) => void (type === 'ZLIB' && count++) }).enable()
    await action()
    hook.disable()
    return count
  }

  it('for 50 simultaneous clients, and later ones', async () => {
    const root = bigMirror(tempFolder(), { symbols: ['BTCUSDT'], weeks: 1 })
    const { request } = await startTestServer(root)
    const path = weekPath('BTCUSDT', '2024-12-30')
    const requestAll = (coding: string) => () =>
      Promise.all(Array.from({ length: 50 }, () => request(path, { headers: { 'accept-encoding': coding } })))
    expect(await countCompressors(requestAll('identity'))).toBe(0)
    expect(await countCompressors(requestAll('gzip'))).toBe(1)
    expect(await countCompressors(requestAll('br'))).toBe(1)
    expect(await countCompressors(requestAll('gzip, br'))).toBe(0)
    expect(new Set((await requestAll('br')()).map(({ body }) => body.toString('base64'))).size).toBe(1)
  })
})
