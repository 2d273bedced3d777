import { readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  parseErrorObject,
  type SendRequest,
  startTestServer,
  type TestResponse,
} from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const OPEN = weekPath('BTCUSDT', OPEN_WEEK)
let root: string
let request: SendRequest

beforeEach(async () => {
  root = makeTree(tempFolder())
  request = (await startTestServer(root)).request
})

function expectMissing(response: TestResponse): void {
  expect(response.status).toBe(404)
  expect(parseErrorObject(response)).toEqual({ statusCode: 404, message: expect.any(String), isError: true })
}

/** Replaces the byte at an offset of a file. */
function replaceByte(file: string, offset: number, to: string): void {
  const bytes = readFileSync(file)
  expect(String.fromCharCode(bytes[offset])).not.toBe(to)
  bytes.write(to, offset)
  writeFileSync(file, bytes)
}

/** Damage that `klines` itself never causes: an interrupted copy, a failing disk, a wrong edit. */
const DAMAGES: [string, (file: string) => void][] = [
  ['empty', file => truncateSync(file)],
  ['cut in the middle', file => truncateSync(file, 500)],
  ['with a comma replaced', file => replaceByte(file, readFileSync(file).indexOf(','), ' ')],
  ['with another window', file => writeFileSync(file, readFileSync(join(root, weekPath('BTCUSDT', FULL_WEEKS[1]))))],
  ['a page of HTML', file => writeFileSync(file, '<!DOCTYPE html><p>Sign in</p>')],
]

describe('a corrupt file is treated as missing', () => {
  it.each(DAMAGES)('%s', async (_, damage) => {
    const before = await request(PATH)
    expect(before.status).toBe(200)
    damage(join(root, PATH))
    expectMissing(await request(PATH))
    expectMissing(await request(PATH, { headers: { 'accept-encoding': 'gzip', 'if-none-match': '*' } }))
  })

  it('and is served again as soon as it is valid', async () => {
    const bytes = readFileSync(join(root, PATH))
    truncateSync(join(root, PATH), 500)
    expectMissing(await request(PATH))
    writeFileSync(join(root, PATH), bytes)
    expect((await request(PATH)).body.equals(bytes)).toBe(true)
  })

  it('a corrupt list is replaced: that of symbols by those of the mirror, that of dates by the built-in one', async () => {
    writeFileSync(join(root, 'api/klines/symbols.json'), '["ETHUSDT"')
    writeFileSync(join(root, 'api/klines/start-dates/15m.json'), '["2025-01-06","2025-01-07"]')
    expect(JSON.parse(String((await request('api/klines/symbols.json')).body))).toEqual(['BTCUSDT', 'ETHUSDT'])
    expect(JSON.parse(String((await request('api/klines/start-dates/15m.json')).body))).toHaveLength(783)
  })
})

describe('what links name', () => {
  let outside: string
  beforeEach(() => {
    outside = makeTree(tempFolder())
  })

  it('is served if it is the window itself, and again once it changes', async () => {
    for (const path of [PATH, OPEN]) {
      const { body } = await request(path)
      rmSync(join(root, path))
      symlinkSync(join(outside, path), join(root, path))
      expect((await request(path)).body.equals(body)).toBe(true)
      writeFileSync(join(outside, path), '[]')
      expect(String((await request(path)).body)).toBe('[]')
    }
  })

  it('is not served, nor named, if it is anything else', async () => {
    for (const target of ['/etc/passwd', join(outside, OPEN), '/dev/zero', outside]) {
      rmSync(join(root, PATH))
      symlinkSync(target, join(root, PATH))
      expectMissing(await request(PATH))
      const { body } = await request('export/15m/BTCUSDT.csv')
      expect(String(body)).not.toMatch(/root:|2025-02-1|klines-/)
    }
  })

  it.each(['api/klines/15m/BTCUSDT', 'api'])('is not served below a linked folder: %s', async folder => {
    expect((await request(PATH)).status).toBe(200)
    rmSync(join(root, folder), { recursive: true })
    symlinkSync(join(outside, folder), join(root, folder))
    expect(readFileSync(join(root, PATH)).length).toBeGreaterThan(500)
    expectMissing(await request(PATH))
    expectMissing(await request(weekPath('BTCUSDT', FULL_WEEKS[1])))
  })

  it('is served of a mirror that is itself reached through a link', async () => {
    const link = join(tempFolder(), 'link')
    symlinkSync(root, link)
    const served = await startTestServer(link)
    expect((await served.request(PATH)).body.equals(readFileSync(join(root, PATH)))).toBe(true)
  })

  it('is not there: a dangling link, or one to itself', async () => {
    for (const target of ['nowhere', join(root, PATH)]) {
      rmSync(join(root, PATH))
      symlinkSync(target, join(root, PATH))
      expectMissing(await request(PATH))
    }
    rmSync(dirname(join(root, PATH)), { recursive: true })
    symlinkSync(dirname(join(root, PATH)), dirname(join(root, PATH)))
    expectMissing(await request(PATH))
  })
})
