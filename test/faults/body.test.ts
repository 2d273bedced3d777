import { gzipSync } from 'node:zlib'
import { describe } from 'vitest'
import { weekRows } from '../support/synthetic-tree.js'
import { testFaults } from './support/fault-case.js'
import { useFaultScenarios, WEEK } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok, rows } from './support/responses.js'

const newScenario = useFaultScenarios()
const VALID = weekRows(WEEK)
const BODY = Buffer.from(JSON.stringify(VALID))
const GZIP = gzipSync(BODY)
/** A gzip body ends with a checksum and a length of four bytes each. */
const BAD_CRC = Buffer.concat([GZIP.subarray(0, -8), Buffer.alloc(4, 0xab), GZIP.subarray(-4)])
const ZEROS = Buffer.alloc(20 * 1024 * 1024)

const encoded = (encoding: string, body: Buffer): FaultResponse => ok(body, `Content-Encoding: ${encoding}`)
/** The window with one row changed. */
const withRow = (index: number, change: (row: unknown[]) => unknown) =>
  rows(VALID.map((row, at) => (at === index ? change([...row]) : row)))

// All that the rows of a window may be wrong in: test/rows/window-codec.test.ts.
describe('a body that is not a valid window', () => {
  const badText = Buffer.from(JSON.stringify(VALID).replace(/"0"\]\]$/, '"\xff"]]'), 'latin1')
  testFaults(newScenario, [
    ['F13 bad UTF-8 in a cell', ok(badText), 3, /not UTF-8/],
    ['F14 UTF-16 with a byte order mark', ok(Buffer.from(`\ufeff${BODY}`, 'utf16le')), 3, /not UTF-8/],
    ['F16 an error object with status 200', ok('{"isError":true}'), 3, /expected an array of rows, got an object/],
    ['F17 11 elements', withRow(3, row => row.slice(0, 11)), 3, /row 3: .*12.*got 11/],
    [
      'F18 a count of 9007199254740993',
      ok(String(BODY).replace(',42,', ',9007199254740993,')),
      3,
      /row 0, element 8 \(count\): expected an integer/,
      { source: 'exchange' },
    ],
    ['F19 rows in descending order', rows(VALID.toReversed()), 3, /row 1, element 0 \(open_time\): .* after/],
    ["F20 another window's file", rows(weekRows('2025-01-27')), 3, /row 0, element 0 \(open_time\): .*outside the win/],
    ['F21 __proto__ instead of a row', ok('[{"__proto__":[1,2],"length":12}]'), 3, /row 0: .* array, got an object/],
  ])
})

describe('a body with a content encoding', () => {
  testFaults(newScenario, [
    [
      'F11 a gzip bomb',
      encoded('gzip', gzipSync(ZEROS)),
      1,
      /the gzip body decodes to more than 16777216 bytes/,
      { inChildProcess: true },
    ],
    ['F12 an unknown encoding with control characters', encoded('\u009b2J', BODY), 3, /unknown content encoding "/],
    ['F12 a wrong checksum', encoded('gzip', BAD_CRC), 3, /not valid gzip/, { source: 'exchange' }],
    ['F12 gzip without its label', ok(GZIP), 3, /not UTF-8/],
    ['F12 a second gzip member behind the first', encoded('gzip', Buffer.concat([GZIP, GZIP])), 3, /not JSON/],
    ['F12 valid gzip named x-gzip', [encoded('x-gzip', GZIP)], 1],
  ])
})
