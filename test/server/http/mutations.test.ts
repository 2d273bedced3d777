import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { cases } from '../../support/cases.js'
import { Random } from '../../support/random.js'
import { USER_BODY, USER_TARGET } from '../../support/servers/http-server.js'
import { rawPost, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { startServerProcess } from '../../support/servers/server-process.js'
import { FULL_WEEKS, makeTree, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const COUNT = cases(40_000, 5_000)
const BATCHES = 4
/** Requests on one connection, and simultaneous connections. */
const DEPTH = 5
const CONNECTIONS = 64

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

/** A valid request with up to three mutations. */
function mutateRequest(random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(SEEDS))
  for (let times = 1 + random.below(3); times > 0 && bytes.length > 1; times--) {
    const [offset, other] = [random.below(bytes.length), random.below(bytes.length)]
    const [head, tail] = [bytes.subarray(0, offset), bytes.subarray(offset)]
    const kind = random.below(7)
    if (kind === 0) bytes[offset] = random.below(256)
    else if (kind === 1) bytes[offset] ^= 1 << random.below(8)
    else if (kind === 2) bytes = Buffer.concat([head, Buffer.from(random.pick(PIECES), 'latin1'), tail])
    else if (kind === 3) bytes = Buffer.concat([head, tail.subarray(random.below(20))])
    else if (kind === 4) bytes = Buffer.concat([head, random.bytes(random.below(30)), tail])
    else if (kind === 5)
      bytes = Buffer.concat([head, bytes.subarray(Math.min(offset, other), Math.max(offset, other)), tail])
    else if (random.below(5) === 0) bytes = head
    else bytes = repeatLine(bytes, random)
  }
  return bytes
}

/** Repeats one of the lines in another place. */
function repeatLine(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\r\n')
  lines.splice(random.below(lines.length), 0, random.pick(lines))
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

/** When a client ends its side of the connection: at once, on the first data, or by a reset. */
const ENDINGS = ['end', 'end', 'end', 'later', 'reset'] as const

/** Sends bytes and reads until the connection closes; returns whether any data arrived. */
function sendBytes(port: number, bytes: Buffer, ending: (typeof ENDINGS)[number]): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port })
    let answered = false
    // An incomplete request gets no response.
    const limit = ending === 'end' ? undefined : setTimeout(() => socket.end(), 50)
    socket.on('error', () => {})
    socket.on('data', () => {
      answered = true
      if (ending === 'reset') socket.resetAndDestroy()
      else socket.end()
    })
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(answered)
    })
    if (ending === 'end') socket.end(bytes)
    else socket.write(bytes)
  })
}

/** Open file descriptors and memory of a process. */
const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

it(`${COUNT} mutated requests neither crash the server nor make it leak`, async () => {
  const child = await startServerProcess(makeTree(tempFolder()))
  const pid = child.process.pid as number
  const expectHealthy = async () => {
    for (const request of WHOLE.slice(1, 6)) expect((await sendRaw(child.url, request)).status).toBeLessThan(300)
    expect((await sendRaw(child.url, rawPost(USER_TARGET, USER_BODY))).status).toBe(200)
  }
  await expectHealthy()
  const port = Number(new URL(child.url).port)
  const random = new Random(42)
  const open = countDescriptors(pid)
  const memory: number[] = []
  let [connections, answered] = [0, 0]
  for (let batch = 0; batch < BATCHES; batch++) {
    const groups = Array.from({ length: COUNT / BATCHES / DEPTH }, () =>
      Array.from({ length: DEPTH }, () => mutateRequest(random)),
    )
    const work = async () => {
      for (let group = groups.pop(); group; group = groups.pop()) {
        // The server ignores everything after a malformed request, so some requests are sent one by one.
        for (const bytes of random.below(10) === 0 ? group : [Buffer.concat(group)]) {
          connections++
          if (await sendBytes(port, bytes, random.pick(ENDINGS))) answered++
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    await expectHealthy()
    await expect.poll(() => countDescriptors(pid)).toBeLessThanOrEqual(open)
    memory.push(memoryMb(pid))
  }
  expect(child.process.exitCode).toBeNull()
  expect([child.stderr(), child.errors()]).toEqual(['', []])
  // Most requests get a response, even if it is an error.
  expect(answered).toBeGreaterThan(0.8 * connections)
  // The first half fills caches and the heap; after that memory does not grow. A leak of 2 kB a request would add 100 MB.
  const [, half, , end] = memory
  expect(end - half).toBeLessThan(20)
})
