import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deferred } from '../support/deferred.js'
import { filesBelow } from '../support/files-below.js'
import { candle, putFile, windowBytes } from '../support/synthetic-tree.js'
import { SHORT_DELAYS, testFaults } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios, WEEK } from './support/fault-scenario.js'
import { cutAt, drip, endless, hangUp, ok, raw, rows, silence, toChunk } from './support/responses.js'

const newScenario = useFaultScenarios()

const HEAD = 'HTTP/1.1 200 OK\r\n'
const PIECE = Buffer.alloc(64 * 1024, '1')
const CUTS = ([0, 1, 'middle', -1] as const).flatMap(at => [cutAt(at, 'close'), cutAt(at, 'reset')])
/** An attempt may take three seconds instead of thirty, and there are two instead of six: a busy machine stalls for a second. */
const SHORT_ATTEMPTS = { tries: 2, attemptMs: 3_000 }

describe('a connection that fails', () => {
  testFaults(newScenario, [
    {
      inChildProcess: true,
      name: 'F02 closed before headers, twice',
      responses: [hangUp(), hangUp('reset')],
      requests: 3,
    },
    {
      name: 'F02 closed before headers, always',
      responses: hangUp(),
      requests: 6,
      message: /connection closed/,
    },
    {
      name: 'F02 reset before headers, always',
      responses: hangUp('reset'),
      requests: 6,
      message: /connection (reset|closed)/,
    },
    {
      name: 'F03 closed and reset at byte 0, 1, in the middle and at the last byte but one: the file is downloaded from its start',
      responses: CUTS,
      requests: CUTS.length + 1,
      policy: { tries: 20 },
    },
    {
      name: 'F03 reset in the middle, always',
      responses: cutAt('middle', 'reset'),
      requests: 6,
      message: /connection (reset|closed)/,
    },
    {
      name: 'F03 closed before the last byte, always',
      responses: cutAt(-1, 'close'),
      requests: 6,
      message: /closed|announced/,
    },
    {
      name: 'F04 content-length too large, then closed',
      responses: ({ socket, file }) => void socket.end(`${HEAD}Content-Length: ${file!.length + 1}\r\n\r\n${file}`),
      requests: 6,
      message: /closed|announced/,
    },
    {
      name: 'F04 content-length too large, and the connection stays open',
      responses: ({ socket, file }) => void socket.write(`${HEAD}Content-Length: ${file!.length + 1}\r\n\r\n${file}`),
      requests: 2,
      policy: SHORT_ATTEMPTS,
      message: /no whole answer within 3 s/,
    },
    {
      name: 'F05 chunks without the last one',
      responses: ({ socket, file }) =>
        void socket.end(Buffer.concat([Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`), toChunk(file!)])),
      requests: 6,
      message: /closed/,
    },
    {
      name: 'F05 a chunk that is cut',
      responses: ({ socket, file }) =>
        void socket.end(
          Buffer.concat([Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`), toChunk(file!).subarray(0, 300)]),
        ),
      requests: 6,
      message: /closed/,
    },
    {
      name: 'F05 a chunk size that is not a number',
      responses: raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n[[1]]\r\n0\r\n\r\n`),
      requests: 6,
      message: /chunk/i,
    },
    {
      name: 'F06 a body without a length, cut short',
      responses: ({ socket, file }) => void socket.end(`${HEAD}\r\n${file!.subarray(0, -20)}`),
      requests: 3,
      message: /not JSON/,
    },
    {
      name: 'F06 a body without a length, cut to nothing',
      responses: ({ socket }) => void socket.end(`${HEAD}\r\n`),
      requests: 3,
      message: /the body is empty/,
    },
    {
      name: 'F06 a body without a length, complete',
      responses: ({ socket, file, times }) => void socket.end(`${HEAD}${times.join('\r\n')}\r\n\r\n${file}`),
      requests: 1,
    },
    {
      name: 'F07 content-length too small',
      responses: ({ socket, file }) => void socket.end(`${HEAD}Content-Length: ${file!.length - 20}\r\n\r\n${file}`),
      requests: 3,
      message: /not JSON/,
    },
    {
      name: 'F07 content-length too small once: the surplus bytes must not become the next response',
      responses: [({ socket, file }) => void socket.write(`${HEAD}Content-Length: 20\r\n\r\n${file}`)],
      requests: 2,
    },
    {
      name: 'F08 a body that trickles in for a minute',
      responses: drip(10, () => 500),
      requests: 2,
      policy: SHORT_ATTEMPTS,
      message: /within 3 s/,
    },
    {
      name: 'F08 silence before the headers',
      responses: silence,
      requests: 2,
      policy: SHORT_ATTEMPTS,
      message: /within 3 s/,
    },
    {
      name: 'F08 silence in the headers',
      responses: raw(`${HEAD}X-`),
      requests: 2,
      policy: SHORT_ATTEMPTS,
      message: /within 3 s/,
    },
    {
      name: 'F08 silence after the headers',
      responses: raw(`${HEAD}Content-Length: 900\r\n\r\n`),
      requests: 2,
      policy: SHORT_ATTEMPTS,
      message: /within 3 s/,
    },
    { name: 'F08 silence once, then the file', responses: [silence], requests: 2, policy: SHORT_ATTEMPTS },
    { name: 'F09 segments of one byte', responses: drip(1, () => 0), requests: 1 },
    { name: 'F09 jitter', responses: drip(100, piece => (piece * 37) % 90), requests: 1 },
    {
      inChildProcess: true,
      name: 'F10 an endless body',
      responses: endless([], PIECE),
      requests: 1,
      message: /the body is larger than 8388608 bytes/,
    },
    {
      inChildProcess: true,
      name: 'F10 endless chunks',
      responses: endless(['Transfer-Encoding: chunked'], toChunk(PIECE)),
      requests: 1,
      message: /the body is larger than 8388608 bytes/,
    },
    {
      inChildProcess: true,
      name: 'F10 a content-length of 10 GB',
      responses: endless(['Content-Length: 10000000000'], PIECE),
      requests: 1,
      message: /the body is larger than 8388608 bytes/,
    },
  ])
})

it.concurrent('F09 64 KB/s: a full window that takes over a second is downloaded at the first try', async () => {
  const scenario = await newScenario()
  const start = Date.parse(WEEK)
  const bytes = windowBytes(Array.from({ length: 672 }, (_, index) => candle(start + index * 900_000)))
  putFile(scenario.tree, FAULTY, bytes)
  scenario.server.always(
    FAULTY,
    drip(3_277, () => 50),
  )
  expect(await scenario.downloadInProcess()).toMatchObject({ code: 0, stderr: '' })
  const [{ at }] = scenario.server.requestsFor(FAULTY)
  expect(performance.now() - at).toBeGreaterThan((1_000 * bytes.length) / (64 * 1_024) - 100)
  expect(scenario.server.requestsFor(FAULTY)).toHaveLength(1)
  expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
})

it.concurrent('F10 bodies just below the size limit, 64 at once: memory stays that of a few', async () => {
  const scenario = await newScenario()
  const weeks = Array.from({ length: 64 }, (_, week) => new Date(Date.UTC(2023, 11, 4 + 7 * week)))
  const row = '[0,"0","0","0","0","0",0,"0",0,"0","0","0"]'
  const body = Buffer.from(`[${`${row},`.repeat(Math.floor((8 * 1024 * 1024 - 2) / (row.length + 1)) - 1)}${row}]`)
  const gate = deferred()
  scenario.server.always(LIST, rows(weeks.map(week => week.toISOString().slice(0, 10))))
  scenario.server.everywhere(async request => {
    if (scenario.server.windowRequests().length === weeks.length) gate.resolve()
    await gate.promise
    return ok(body)(request)
  })
  const run = await scenario.download({ args: ['--concurrency', '64'], policy: { ...SHORT_DELAYS, invalidTries: 1 } })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr).toMatch(
    /^klines: 64 of 64 [^\n]*\n64 x the body is no list of rows: it has 83\d{5} bytes, expected at most 1048576 \(/,
  )
  expect(scenario.server.peak).toBe(weeks.length)
  expect(filesBelow(scenario.mirror)).toEqual(['CACHEDIR.TAG', LIST, 'mirror.json'])
  // The stored list has more entries than the healthy one.
  rmSync(join(scenario.mirror, LIST))
  await scenario.expectRepair(ALL_WINDOWS)
})
