import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { weekRows } from '../support/synthetic-tree.js'
import { ok } from './support/answers.js'
import { checkRows, HASTY, inLibrary } from './support/fault-row.js'
import { ALL_WINDOWS, LIST, usePlaces, WEEK } from './support/fault-scenario.js'
import type { FaultAnswer } from './support/fault-server.js'

const newPlace = usePlaces()
const SOUND = weekRows(WEEK)
const BODY = Buffer.from(JSON.stringify(SOUND))
const GZIP = gzipSync(BODY)
/** Gzip's last eight bytes: a checksum and a length. */
const BAD_CRC = Buffer.concat([GZIP.subarray(0, -8), Buffer.alloc(4, 0xab), GZIP.subarray(-4)])
const ZEROS = Buffer.alloc(64 * 1024 * 1024)

const coded = (coding: string, body: Buffer): FaultAnswer => ok(body, `Content-Encoding: ${coding}`)

describe('a body in a coding', () => {
  checkRows(
    newPlace,
    [
      {
        name: 'F11 a bomb of gzip',
        answers: coded('gzip', gzipSync(ZEROS)),
        asks: 1,
        says: /the gzip body decodes to more than 16777216 bytes/,
      },
      {
        name: 'F11 a bomb of brotli',
        answers: coded('br', brotliCompressSync(ZEROS, { params: { 1: 1 } })),
        asks: 1,
        says: /the br body decodes to more than 16777216 bytes/,
      },
      {
        name: 'F12 two codings, one in the other',
        answers: coded('gzip, gzip', gzipSync(GZIP)),
        asks: 3,
        says: /unknown content encoding "gzip, gzip"/,
      },
      { name: 'F12 gzip in gzip, said once', answers: coded('gzip', gzipSync(GZIP)), asks: 3, says: /not UTF-8/ },
      { name: 'F12 an unknown coding', answers: coded('zstd', BODY), asks: 3, says: /unknown content encoding "zstd"/ },
      {
        name: 'F12 a coding of C1 controls',
        answers: coded('\u009b2J', BODY),
        asks: 3,
        says: /unknown content encoding "/,
      },
      {
        name: 'F12 a coding that would steer a terminal',
        answers: coded('\x1b[2J\x07', BODY),
        asks: 6,
        says: /Invalid header value/,
      },
      { name: 'F12 a wrong checksum', answers: coded('gzip', BAD_CRC), asks: 3, says: /not sound gzip/ },
      { name: 'F12 gzip cut short', answers: coded('gzip', GZIP.subarray(0, -12)), asks: 3, says: /not sound gzip/ },
      {
        name: 'F12 gzip without its checksum',
        answers: coded('gzip', GZIP.subarray(0, -8)),
        asks: 3,
        says: /not sound gzip/,
      },
      { name: 'F12 a plain body labelled gzip', answers: coded('gzip', BODY), asks: 3, says: /not sound gzip/ },
      { name: 'F12 gzip without its label', answers: ok(GZIP), asks: 3, says: /not UTF-8/ },
      {
        name: 'F12 a second member behind the first',
        answers: coded('gzip', Buffer.concat([GZIP, GZIP])),
        asks: 3,
        says: /not JSON/,
      },
      { name: 'F12 gzip and brotli that are sound', answers: [coded('x-gzip', GZIP)], asks: 1 },
    ].map(inLibrary(['F11 a bomb of gzip', 'F11 a bomb of brotli', 'F12 a wrong checksum'])),
  )
})

it('F11 every window at once decodes to 16 MB: memory is that of one or two', async () => {
  const place = await newPlace()
  const body = gzipSync(`[${' '.repeat(16_000_000)}{}]`)
  for (const path of ALL_WINDOWS) place.server.always(path, coded('gzip', body))
  const run = await place.download({ policy: HASTY })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr).toMatch(/^klines: 8 of 8 [^\n]*\n8 x the body is no list of rows/)
  expect(place.server.windows()).toHaveLength(3 * ALL_WINDOWS.length)
  expect(place.held()).toEqual([LIST])
  await place.expectRepair(ALL_WINDOWS)
})
