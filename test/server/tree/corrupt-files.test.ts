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

  it('a corrupt list is replaced by the built-in one', async () => {
    writeFileSync(join(root, 'api/klines/symbols.json'), '["BTCUSDT"')
    writeFileSync(join(root, 'api/klines/start-dates/15m.json'), '["2025-01-06","2025-01-07"]')
    expect(JSON.parse(String((await request('api/klines/symbols.json')).body))).toHaveLength(10)
    expect(JSON.parse(String((await request('api/klines/start-dates/15m.json')).body))).toHaveLength(783)
  })
})

describe('only regular files inside the mirror are served, not', () => {
  let outside: string
  beforeEach(() => {
    outside = makeTree(tempFolder())
  })

  it('a link instead of a file', async () => {
    const other = await request(OPEN)
    expect(other.status).toBe(200)
    for (const path of [PATH, OPEN]) {
      rmSync(join(root, path))
      symlinkSync(join(outside, path), join(root, path))
      expectMissing(await request(path))
    }
  })

  it.each(['api/klines/15m/BTCUSDT', 'api'])('a link to a folder outside instead of %s', async folder => {
    expect((await request(PATH)).status).toBe(200)
    rmSync(join(root, folder), { recursive: true })
    symlinkSync(join(outside, folder), join(root, folder))
    expect(readFileSync(join(root, PATH)).length).toBeGreaterThan(500)
    expectMissing(await request(PATH))
    expectMissing(await request(weekPath('BTCUSDT', FULL_WEEKS[1])))
  })

  it('the exception: a mirror that is itself reached through a link', async () => {
    const link = join(tempFolder(), 'link')
    symlinkSync(root, link)
    const served = await startTestServer(link)
    expect((await served.request(PATH)).body.equals(readFileSync(join(root, PATH)))).toBe(true)
  })

  it('a dangling link, or one to itself', async () => {
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
