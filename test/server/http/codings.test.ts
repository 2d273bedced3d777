import { createHook } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bigMirror } from '../../support/big-mirror.js'
import {
  parseErrorObject,
  startTestServer,
  type TestResponse,
  useTestServer,
} from '../../support/servers/test-server.js'
import { FULL_WEEKS, FUTURE_WEEK, makeTree, OPEN_WEEK, putFile, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const LIST = 'api/klines/start-dates/2h.json'
const SMALL = ['api/klines/symbols.json', weekPath('ETHUSDT', FUTURE_WEEK)]
const tree = useTestServer()
const accepting = (codings: string, path = PATH) => tree.request(path, { headers: { 'accept-encoding': codings } })

/** The bytes that an answer stands for, by what it says of itself. */
function decoded({ headers, body }: TestResponse): Buffer {
  const decoders = { gzip: gunzipSync, br: brotliDecompressSync, identity: (bytes: Buffer) => bytes }
  return decoders[(headers['content-encoding'] ?? 'identity') as keyof typeof decoders](body)
}

const codingOf = ({ headers }: TestResponse) => headers['content-encoding'] ?? 'identity'

describe('gzip and br', () => {
  it.each(['gzip', 'br'])('%s decodes to the very bytes, is smaller, and says what it is', async coding => {
    for (const path of [PATH, weekPath('ETHUSDT', OPEN_WEEK), LIST]) {
      const [plain, coded] = [await tree.request(path), await accepting(coding, path)]
      expect(coded.status).toBe(200)
      expect(coded.headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(coded.body.length) })
      expect(coded.headers['content-type']).toBe(plain.headers['content-type'])
      expect(coded.body.length).toBeLessThan(plain.body.length)
      expect(decoded(coded).equals(plain.body)).toBe(true)
    }
  })

  it('says in every answer that Accept-Encoding makes the difference', async () => {
    for (const path of [PATH, LIST, ...SMALL]) {
      for (const coding of ['identity', 'gzip', 'br']) {
        expect((await accepting(coding, path)).headers.vary?.toLowerCase(), path).toContain('accept-encoding')
      }
    }
  })

  it('leaves bodies alone that are too small to gain', async () => {
    for (const path of SMALL) {
      const answer = await accepting('gzip, br', path)
      expect([path, answer.status, codingOf(answer)]).toEqual([path, 200, 'identity'])
      expect(answer.headers['content-length']).toBe(String(answer.body.length))
      expect(answer.body.length).toBeLessThan(256)
      JSON.parse(String(answer.body))
    }
  })

  it('codes those too for a client that takes nothing else', async () => {
    for (const path of SMALL) {
      const [plain, coded] = [await tree.request(path), await accepting('gzip, identity;q=0', path)]
      expect([coded.status, codingOf(coded)]).toEqual([200, 'gzip'])
      expect(decoded(coded).equals(plain.body)).toBe(true)
    }
  })
})

describe('the coding is the best one that the client takes', () => {
  it('none, when it does not say', async () => {
    expect(codingOf(await tree.request(PATH))).toBe('identity')
  })

  it.each([
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['deflate', 'identity'],
    ['deflate, gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.8', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.001', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0, gzip', 'gzip'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0, identity', 'identity'],
    ['identity;q=0, *', 'br'],
    ['identity;q=0, gzip', 'gzip'],
  ])('Accept-Encoding "%s": %s', async (accepted, coding) => {
    const answer = await accepting(accepted)
    expect([answer.status, codingOf(answer)]).toEqual([200, coding])
    expect(decoded(answer).equals(readFileSync(join(tree.root(), PATH)))).toBe(true)
  })

  it.each(['identity;q=0', '*;q=0', 'deflate, identity;q=0', 'br;q=0, gzip;q=0, identity;q=0', 'deflate, *;q=0'])(
    'Accept-Encoding "%s" leaves nothing: 406',
    async accepted => {
      for (const path of [PATH, ...SMALL]) {
        const answer = await accepting(accepted, path)
        expect([answer.status, answer.headers['content-encoding']]).toEqual([406, undefined])
        expect(parseErrorObject(answer)).toEqual({ statusCode: 406, message: expect.any(String), isError: true })
      }
    },
  )
})

describe('a coding is made once for a version of a file', () => {
  /** How many compressors (and decompressors) this process makes while `action` runs. */
  async function compressors(action: () => Promise<unknown>): Promise<number> {
    let made = 0
    const hook = createHook({ init: (_id, type) => void (type === 'ZLIB' && made++) }).enable()
    await action()
    hook.disable()
    return made
  }

  it('though 50 clients ask for it at once, and again', async () => {
    const root = bigMirror(tempFolder(), { symbols: ['BTCUSDT'], weeks: 1 })
    const { request } = await startTestServer(root)
    const path = weekPath('BTCUSDT', '2024-12-30')
    const all = (coding: string) => () =>
      Promise.all(Array.from({ length: 50 }, () => request(path, { headers: { 'accept-encoding': coding } })))
    expect(await compressors(all('identity'))).toBe(0)
    expect(await compressors(all('gzip'))).toBe(1)
    expect(await compressors(all('br'))).toBe(1)
    expect(await compressors(all('gzip, br'))).toBe(0)
    expect(new Set((await all('br')()).map(({ body }) => body.toString('base64'))).size).toBe(1)
  })

  it('and anew for another version', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    const once = () => request(PATH, { headers: { 'accept-encoding': 'gzip' } })
    expect(await compressors(once)).toBe(1)
    const other = readFileSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[0])))
    putFile(root, PATH, Buffer.concat([other, Buffer.from('\n')]))
    expect(await compressors(once)).toBe(1)
    expect(
      decoded(await once())
        .subarray(0, -1)
        .equals(other),
    ).toBe(true)
  })
})
