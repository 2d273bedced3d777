import { describe, expect, it } from 'vitest'
import { candle, putFile, windowBytes } from '../support/synthetic-tree.js'
import { EXCHANGE, testFaults } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios, WEEK } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { cutAt, drip, endless, hangUp, raw, silence, toChunk } from './support/responses.js'

const newScenario = useFaultScenarios()

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`
const counted = (length: number, body: Buffer) => `${HEAD}Content-Length: ${length}\r\n\r\n${body}`
/** Bytes made of the healthy file; then the connection ends. */
const send =
  (make: (file: Buffer) => string): FaultResponse =>
  ({ socket, file = Buffer.alloc(0) }) =>
    void socket.end(make(file))
const PIECE = Buffer.alloc(64 * 1024, '1')
const CUTS = ([0, 1, 'middle', -1] as const).flatMap(at => [cutAt(at, 'close'), cutAt(at, 'reset')])
/** An attempt may take three seconds instead of thirty, and there are two instead of six: a busy machine stalls for a second. */
const SHORT_ATTEMPTS = { policy: { tries: 2, attemptMs: 3_000 } }

describe('a connection that fails', () => {
  testFaults(newScenario, [
    ['F02 closed before headers, twice', [hangUp(), hangUp('reset')], 3],
    ['F02 closed before headers, always', hangUp(), 6, /connection closed/],
    [
      'F03 cut at every part of a body: the file from its start',
      CUTS,
      9,
      undefined,
      { policy: { tries: 20, baseDelayMs: 1 } },
    ],
    ['F03 reset in the middle, always', cutAt('middle', 'reset'), 6, /connection (reset|closed)/, EXCHANGE],
    ['F04 content-length too large, then closed', send(file => counted(file.length + 1, file)), 6, /closed|announced/],
    ['F05 chunks without the last one', send(file => `${CHUNKED}${toChunk(file)}`), 6, /closed/],
    ['F05 a chunk size that is not a number', raw(`${CHUNKED}xyz\r\n[[1]]\r\n0\r\n\r\n`), 6, /chunk/i],
    ['F06 no length, cut short', send(file => `${HEAD}\r\n${file.subarray(0, -20)}`), 3, /not JSON/, EXCHANGE],
    ['F06 a body without a length, cut to nothing', send(() => `${HEAD}\r\n`), 3, /the body is empty/],
    ['F07 content-length too small', send(file => counted(file.length - 20, file)), 3, /not JSON/],
    [
      'F07 content-length too small once: the surplus bytes must not become the next response',
      [({ socket, file }) => void socket.write(`${HEAD}Content-Length: 20\r\n\r\n${file}`)],
      2,
    ],
    ['F08 a body that trickles in for a minute', drip(10, () => 500), 2, /within 3 s/, SHORT_ATTEMPTS],
    ['F08 silence before the headers', silence, 2, /within 3 s/, SHORT_ATTEMPTS],
    ['F08 silence after the headers', raw(`${HEAD}Content-Length: 900\r\n\r\n`), 2, /within 3 s/, SHORT_ATTEMPTS],
    ['F08 silence once, then the file', [silence], 2, undefined, SHORT_ATTEMPTS],
    ['F09 segments of one byte', drip(1, () => 0), 1],
    ['F10 an endless body', endless([], PIECE), 1, /the body is larger than 8388608 bytes/, { inChildProcess: true }],
    ['F10 a content-length of 10 GB', endless(['Content-Length: 10000000000'], PIECE), 1, /larger than 8388608 bytes/],
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
