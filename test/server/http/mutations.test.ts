import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { Random } from '../../support/random.js'
import { USER_BODY, USER_TARGET } from '../../support/servers/http-server.js'
import { rawPost, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { startServerProcess } from '../../support/servers/server-process.js'
import { FULL_WEEKS, makeTree, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const COUNT = 100_000
const BATCHES = 4
/** Requests that go over one connection, and connections at a time. */
const DEPTH = 5
const CONNECTIONS = 16

const HEADERS = ['Range: bytes=0-9', 'Accept-Encoding: br', 'If-None-Match: "x"', 'Accept: */*;q=0.1']
const WHOLE = [
  ...['/', '/docs/page.js', '/api/klines/symbols.json', '/api/klines/start-dates/1M.json', '/api/openapi.json'],
  ...[
    '/api/static/openapi.json',
    `/${weekPath('BTCUSDT', FULL_WEEKS[0])}`,
    '/nope',
    `http://localhost/api/klines/symbols.json`,
  ],
].map(target => rawRequest(`GET ${target}`, HEADERS))
const SEEDS = [
  ...WHOLE,
  rawRequest('GET /api/streams/tokens', ['Accept: application/jsonl']),
  rawRequest('HEAD /api/klines/symbols.json'),
  rawRequest('OPTIONS /api/klines/symbols.json', ['Origin: http://a', 'Access-Control-Request-Method: GET']),
  rawRequest('CONNECT localhost:80'),
  rawRequest('GET /', ['Connection: Upgrade', 'Upgrade: websocket']),
  rawPost(USER_TARGET, USER_BODY),
  rawRequest(
    `POST ${USER_TARGET}`,
    ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'Expect: 100-continue'],
    `${USER_BODY.length.toString(16)};a=b\r\n${USER_BODY}\r\n0\r\nX: y\r\n\r\n`,
  ),
]
const PIECES = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '\t',
    ':',
    ',',
    ';',
    '%',
    '%zz',
    '../',
    '\xff',
    '{',
    '"',
    '\r\n\r\n',
    'chunked',
    '-1',
    '9'.repeat(30),
  ],
  ...[
    'Host: a\r\n',
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    'HTTP/1.0',
    'GET / ',
  ],
  'x'.repeat(5_000),
]

/** Requests that are nearly right. */
function mutated(random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(SEEDS))
  for (let times = 1 + random.below(3); times > 0 && bytes.length > 1; times--) {
    const [at, other] = [random.below(bytes.length), random.below(bytes.length)]
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)]
    const kind = random.below(7)
    if (kind === 0) bytes[at] = random.below(256)
    else if (kind === 1) bytes[at] ^= 1 << random.below(8)
    else if (kind === 2) bytes = Buffer.concat([head, Buffer.from(random.pick(PIECES), 'latin1'), tail])
    else if (kind === 3) bytes = Buffer.concat([head, tail.subarray(random.below(20))])
    else if (kind === 4) bytes = Buffer.concat([head, random.bytes(random.below(30)), tail])
    else if (kind === 5) bytes = Buffer.concat([head, bytes.subarray(Math.min(at, other), Math.max(at, other)), tail])
    else if (random.below(5) === 0) bytes = head
    else bytes = repeatedLine(bytes, random)
  }
  return bytes
}

/** One of its lines once more, in another place. */
function repeatedLine(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\r\n')
  lines.splice(random.below(lines.length), 0, random.pick(lines))
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

/** How a client leaves: it says so at once, when something has come, or not at all. */
const LEAVINGS = ['end', 'end', 'end', 'later', 'reset'] as const

/** Sends bytes and reads what comes until the connection is over; whether anything came. */
function shoot(port: number, bytes: Buffer, leaving: (typeof LEAVINGS)[number]): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port })
    let answered = false
    // For a request that is not whole there is no answer to wait for.
    const limit = leaving === 'end' ? undefined : setTimeout(() => socket.end(), 50)
    socket.on('error', () => {})
    socket.on('data', () => {
      answered = true
      if (leaving === 'reset') socket.resetAndDestroy()
      else socket.end()
    })
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(answered)
    })
    if (leaving === 'end') socket.end(bytes)
    else socket.write(bytes)
  })
}

/** What the kernel says of a process. */
const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

it(`${COUNT} mutated requests neither end the server nor make it leak`, { timeout: 120_000 }, async () => {
  const child = await startServerProcess(makeTree(tempFolder()))
  const pid = child.process.pid as number
  const sound = async () => {
    for (const request of WHOLE.slice(1, 6)) expect((await sendRaw(child.url, request)).status).toBeLessThan(300)
    expect((await sendRaw(child.url, rawPost(USER_TARGET, USER_BODY))).status).toBe(200)
  }
  await sound()
  const port = Number(new URL(child.url).port)
  const random = new Random(42)
  const open = descriptors(pid)
  const memory: number[] = []
  let [connections, answered] = [0, 0]
  for (let batch = 0; batch < BATCHES; batch++) {
    const shots = Array.from({ length: COUNT / BATCHES / DEPTH }, () =>
      Array.from({ length: DEPTH }, () => mutated(random)),
    )
    const work = async () => {
      for (let shot = shots.pop(); shot; shot = shots.pop()) {
        // Behind the first that cannot be read all is lost: some go one by one.
        for (const bytes of random.below(10) === 0 ? shot : [Buffer.concat(shot)]) {
          connections++
          if (await shoot(port, bytes, random.pick(LEAVINGS))) answered++
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    await sound()
    await expect.poll(() => descriptors(pid), { timeout: 15_000 }).toBeLessThanOrEqual(open)
    memory.push(memoryMb(pid))
  }
  expect(child.process.exitCode).toBeNull()
  expect([child.stderr(), child.errors()]).toEqual(['', []])
  // Most were answered, if only to say that they cannot be read.
  expect(answered).toBeGreaterThan(0.8 * connections)
  // The first half has filled caches and the heap; from then on it does not grow.
  const [, half, , end] = memory
  expect(end - half).toBeLessThan(40)
})
