import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { weekRows } from '../support/synthetic-tree.js'
import { runInChildProcess, SHORT_DELAYS, testFaults } from './support/fault-case.js'
import { ALL_WINDOWS, LIST, useFaultScenarios, WEEK } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok } from './support/responses.js'

const newScenario = useFaultScenarios()
const VALID = weekRows(WEEK)
const BODY = Buffer.from(JSON.stringify(VALID))
const GZIP = gzipSync(BODY)
/** A gzip body ends with a checksum and a length of four bytes each. */
const BAD_CRC = Buffer.concat([GZIP.subarray(0, -8), Buffer.alloc(4, 0xab), GZIP.subarray(-4)])
const ZEROS = Buffer.alloc(64 * 1024 * 1024)

const encoded = (encoding: string, body: Buffer): FaultResponse => ok(body, `Content-Encoding: ${encoding}`)

describe('a body with a content encoding', () => {
  testFaults(
    newScenario,
    [
      {
        name: 'F11 a gzip bomb',
        responses: encoded('gzip', gzipSync(ZEROS)),
        requests: 1,
        message: /the gzip body decodes to more than 16777216 bytes/,
      },
      {
        name: 'F11 a brotli bomb',
        responses: encoded('br', brotliCompressSync(ZEROS, { params: { 1: 1 } })),
        requests: 1,
        message: /the br body decodes to more than 16777216 bytes/,
      },
      {
        name: 'F12 two encodings, one in the other',
        responses: encoded('gzip, gzip', gzipSync(GZIP)),
        requests: 3,
        message: /unknown content encoding "gzip, gzip"/,
      },
      {
        name: 'F12 gzip in gzip, announced once',
        responses: encoded('gzip', gzipSync(GZIP)),
        requests: 3,
        message: /not UTF-8/,
      },
      {
        name: 'F12 an unknown encoding',
        responses: encoded('zstd', BODY),
        requests: 3,
        message: /unknown content encoding "zstd"/,
      },
      {
        name: 'F12 an encoding named with C1 control characters',
        responses: encoded('\u009b2J', BODY),
        requests: 3,
        message: /unknown content encoding "/,
      },
      {
        name: 'F12 an encoding named with terminal control characters',
        responses: encoded('\x1b[2J\x07', BODY),
        requests: 6,
        message: /Invalid header value/,
      },
      { name: 'F12 a wrong checksum', responses: encoded('gzip', BAD_CRC), requests: 3, message: /not valid gzip/ },
      {
        name: 'F12 gzip cut short',
        responses: encoded('gzip', GZIP.subarray(0, -12)),
        requests: 3,
        message: /not valid gzip/,
      },
      {
        name: 'F12 gzip without its checksum',
        responses: encoded('gzip', GZIP.subarray(0, -8)),
        requests: 3,
        message: /not valid gzip/,
      },
      {
        name: 'F12 a plain body labelled gzip',
        responses: encoded('gzip', BODY),
        requests: 3,
        message: /not valid gzip/,
      },
      { name: 'F12 gzip without its label', responses: ok(GZIP), requests: 3, message: /not UTF-8/ },
      {
        name: 'F12 a second gzip member behind the first',
        responses: encoded('gzip', Buffer.concat([GZIP, GZIP])),
        requests: 3,
        message: /not JSON/,
      },
      { name: 'F12 valid gzip named x-gzip', responses: [encoded('x-gzip', GZIP)], requests: 1 },
    ].map(runInChildProcess(['F11 a gzip bomb', 'F11 a brotli bomb', 'F12 a wrong checksum'])),
  )
})

it('F11 every window at once decodes to 16 MB: memory stays that of one', async () => {
  const scenario = await newScenario()
  const body = gzipSync(`[${' '.repeat(16_000_000)}{}]`)
  const both = ALL_WINDOWS.flatMap(path => [path, path.replace('BTCUSDT', 'ETHUSDT')])
  for (const path of both) scenario.server.always(path, encoded('gzip', body))
  // 200 MiB with one body at a time, 420 with all of them.
  const run = await scenario.download({
    args: ['ETHUSDT'],
    policy: SHORT_DELAYS,
    inChildProcess: true,
    mostMemory: 350,
  })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr).toMatch(/^klines: 16 of 16 [^\n]*\n16 x the body is no list of rows/)
  expect(scenario.server.windowRequests()).toHaveLength(3 * both.length)
  expect(scenario.mirroredFiles()).toEqual([LIST])
  await scenario.expectRepair(ALL_WINDOWS)
})
