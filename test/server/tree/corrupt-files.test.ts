import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MeasuredServer } from '../../support/servers/measured-server.js'
import {
  parseErrorObject,
  requestFrom,
  type SendRequest,
  startTestServer,
  type TestResponse,
} from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, RENDERED, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const OPEN = weekPath('BTCUSDT', OPEN_WEEK)
let root: string
let ask: SendRequest

beforeEach(async () => {
  root = makeTree(tempFolder())
  ask = (await startTestServer(root)).request
})

function expectAbsent(answer: TestResponse): void {
  expect(answer.status).toBe(404)
  expect(parseErrorObject(answer)).toEqual({ statusCode: 404, message: expect.any(String), isError: true })
}

/** Changes the one byte at `place` of a file. */
function flip(file: string, place: number, to: string): void {
  const bytes = readFileSync(file)
  expect(String.fromCharCode(bytes[place])).not.toBe(to)
  bytes.write(to, place)
  writeFileSync(file, bytes)
}

/** Files that no writer of ours leaves: a copy that broke off, a disk that failed, a hand that slipped. */
const DAMAGES: [string, (file: string) => void][] = [
  ['empty', file => truncateSync(file)],
  ['cut in the middle', file => truncateSync(file, 500)],
  ['cut by its last byte', file => truncateSync(file, readFileSync(file).length - 1)],
  ['zeros from the middle on', file => writeFileSync(file, readFileSync(file).fill(0, 500))],
  ['with a comma flipped', file => flip(file, readFileSync(file).indexOf(','), ' ')],
  ['with a digit of a price flipped', file => flip(file, readFileSync(file).indexOf('.'), 'x')],
  ['with a bracket flipped', file => flip(file, 0, '{')],
  ['with a time flipped, so that it lies outside the window', file => flip(file, 2, '9')],
  ['twice the same', file => writeFileSync(file, Buffer.concat([readFileSync(file), readFileSync(file)]))],
  ['of another window', file => writeFileSync(file, readFileSync(join(root, weekPath('BTCUSDT', FULL_WEEKS[1]))))],
  ['a page of HTML', file => writeFileSync(file, '<!DOCTYPE html><p>Sign in</p>')],
  ['JSON of something else', file => writeFileSync(file, '{"statusCode":500,"message":"x","isError":true}')],
]

describe('a file that is not sound counts as absent', () => {
  it.each(DAMAGES)('%s', async (_, damage) => {
    damage(join(root, PATH))
    expectAbsent(await ask(PATH))
    expectAbsent(await ask(PATH, { headers: { 'accept-encoding': 'gzip', 'if-none-match': '*' } }))
  })

  it.each(DAMAGES)('%s, also when it was sound when last asked for', async (_, damage) => {
    const before = await ask(PATH)
    expect(before.status).toBe(200)
    damage(join(root, PATH))
    expectAbsent(await ask(PATH))
  })

  it('and is served again as soon as it is sound', async () => {
    const bytes = readFileSync(join(root, PATH))
    truncateSync(join(root, PATH), 500)
    expectAbsent(await ask(PATH))
    writeFileSync(join(root, PATH), bytes)
    expect((await ask(PATH)).body.equals(bytes)).toBe(true)
  })

  it('also the lists, which are the built-in ones then', async () => {
    writeFileSync(join(root, 'api/klines/symbols.json'), '["BTCUSDT"')
    writeFileSync(join(root, 'api/klines/start-dates/15m.json'), '["2025-01-06","2025-01-07"]')
    expect(JSON.parse(String((await ask('api/klines/symbols.json')).body))).toHaveLength(10)
    expect(JSON.parse(String((await ask('api/klines/start-dates/15m.json')).body))).toHaveLength(783)
  })
})

describe('what is no file of the mirror is not served', () => {
  let outside: string
  beforeEach(() => {
    outside = makeTree(tempFolder())
  })

  it('a link in the place of a file', async () => {
    const other = await ask(OPEN)
    expect(other.status).toBe(200)
    for (const path of [PATH, OPEN]) {
      rmSync(join(root, path))
      symlinkSync(join(outside, path), join(root, path))
      expectAbsent(await ask(path))
    }
  })

  it.each(['api/klines/15m/BTCUSDT', 'api/klines/15m', 'api/klines', 'api'])(
    'a link to a folder outside in the place of %s',
    async folder => {
      expect((await ask(PATH)).status).toBe(200)
      rmSync(join(root, folder), { recursive: true })
      symlinkSync(join(outside, folder), join(root, folder))
      expect(readFileSync(join(root, PATH)).length).toBeGreaterThan(500)
      expectAbsent(await ask(PATH))
      expectAbsent(await ask(weekPath('BTCUSDT', FULL_WEEKS[1])))
    },
  )

  it('but a mirror that is itself reached through a link is', async () => {
    const link = join(tempFolder(), 'link')
    symlinkSync(root, link)
    const served = await startTestServer(link)
    expect((await served.request(PATH)).body.equals(readFileSync(join(root, PATH)))).toBe(true)
  })

  it('a link that leads nowhere, and one that leads to itself', async () => {
    for (const target of ['nowhere', join(root, PATH)]) {
      rmSync(join(root, PATH))
      symlinkSync(target, join(root, PATH))
      expectAbsent(await ask(PATH))
    }
    rmSync(dirname(join(root, PATH)), { recursive: true })
    symlinkSync(dirname(join(root, PATH)), dirname(join(root, PATH)))
    expectAbsent(await ask(PATH))
  })

  it('a FIFO in the place of a file, which is not waited for', async () => {
    const server = await MeasuredServer.start(root)
    onTestFinished(() => server.stop())
    for (const path of [PATH, 'api/klines/symbols.json']) {
      rmSync(join(root, path))
      execFileSync('mkfifo', [join(root, path)])
    }
    const signal = AbortSignal.timeout(20_000)
    expectAbsent(await requestFrom(server.url, PATH, { signal }))
    expect((await requestFrom(server.url, 'api/klines/symbols.json', { signal })).status).toBe(200)
  })

  it('a folder, a socket and a device in the place of a file', async () => {
    const file = join(root, PATH)
    const socket = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
    const makers = [
      () => mkdirSync(file),
      () => expect(() => execFileSync(process.execPath, ['-e', socket, file])).toThrow(),
      () => symlinkSync('/dev/zero', file),
    ]
    for (const make of makers) {
      expect((await ask(OPEN)).status).toBe(200)
      rmSync(file, { recursive: true })
      make()
      expectAbsent(await ask(PATH))
      expectAbsent(await ask(PATH, { headers: { range: 'bytes=0-9' } }))
    }
  })

  it('a folder that leads to itself, and a file in its place', async () => {
    const folder = join(root, 'api/klines/15m/ETHUSDT')
    const path = weekPath('ETHUSDT', FULL_WEEKS[0])
    expect((await ask(path)).status).toBe(200)
    rmSync(folder, { recursive: true })
    symlinkSync(folder, folder)
    expectAbsent(await ask(path))
    expect((await ask(PATH)).status).toBe(200)
    renameSync(join(root, 'api/klines/15m/BTCUSDT'), join(root, 'aside'))
    writeFileSync(join(root, 'api/klines/15m/BTCUSDT'), '[]')
    utimesSync(join(root, 'api/klines/15m/BTCUSDT'), RENDERED / 1000, RENDERED / 1000)
    expectAbsent(await ask(PATH))
  })
})
