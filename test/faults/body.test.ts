import { gzipSync } from 'node:zlib'
import { describe } from 'vitest'
import { weekRows } from '../support/synthetic-tree.js'
import { runInChildProcess, testFaults } from './support/fault-case.js'
import { useFaultScenarios, WEEK } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok, rows } from './support/responses.js'

const newScenario = useFaultScenarios()
const VALID = weekRows(WEEK)
const BODY = Buffer.from(JSON.stringify(VALID))
/** Texts that are no price. */
const WRONG_PRICES = ['', '.5', '1.', '-1', '+1', '1e5', 'NaN', 'Infinity', '1,5', ' 1', '0x10', '\u0661', '1_000']

const coded = (coding: string, body: Buffer): FaultResponse => ok(body, `Content-Encoding: ${coding}`)

describe('a body that is not a valid window', () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')
  const badText = Buffer.from(JSON.stringify(VALID).replace(/"0"\]\]$/, '"\xff"]]'), 'latin1')
  testFaults(
    newScenario,
    [
      { name: 'F13 bad UTF-8 in a cell', responses: ok(badText), requests: 3, message: /not UTF-8/ },
      {
        name: 'F13 an overlong sequence',
        responses: ok(Buffer.concat([BODY.subarray(0, -4), Buffer.from([0xc0, 0xaf]), BODY.subarray(-3)])),
        requests: 3,
        message: /not UTF-8/,
      },
      {
        name: 'F14 UTF-16 with a byte order mark',
        responses: ok(utf16(`\ufeff${BODY}`)),
        requests: 3,
        message: /not UTF-8/,
      },
      {
        name: 'F14 UTF-16 without a byte order mark',
        responses: ok(utf16(String(BODY))),
        requests: 3,
        message: /not JSON/,
      },
      {
        name: 'F16 an object',
        responses: ok('{"0":[]}'),
        requests: 3,
        message: /expected an array of rows, got an object/,
      },
      { name: 'F16 null', responses: ok('null'), requests: 3, message: /expected an array of rows, got null/ },
      { name: 'F16 a string', responses: ok('"[]"'), requests: 3, message: /expected an array of rows/ },
      {
        name: 'F16 an error object with status 200',
        responses: ok('{"isError":true}'),
        requests: 3,
        message: /got an object/,
      },
      {
        name: 'F16 rows that are objects',
        responses: ok('[{"open_time":1}]'),
        requests: 3,
        message: /row 0: expected an array/,
      },
      { name: 'F16 two JSON values', responses: ok(`${BODY}${BODY}`), requests: 3, message: /not JSON/ },
      { name: 'F16 a trailing NUL', responses: ok(`${BODY}\0`), requests: 3, message: /not JSON/ },
      {
        name: 'F17 11 elements',
        responses: withRow(3, row => row.slice(0, 11)),
        requests: 3,
        message: /row 3: .*12.*got 11/,
      },
      {
        name: 'F17 13 elements',
        responses: withRow(3, row => [...row, '0']),
        requests: 3,
        message: /row 3: .*12.*got 13/,
      },
      { name: 'F17 an empty row', responses: withRow(0, () => []), requests: 3, message: /row 0: .*12.*got 0/ },
      ...['9007199254740993', '1e400', '1.5', 'true', '"1"', 'null', '-1e300'].map(value => ({
        name: `F18 a count of ${value}`,
        responses: ok(String(BODY).replace(',42,', `,${value},`)),
        requests: 3,
        message: /row 0, element 8 \(count\): expected an integer/,
      })),
      ...WRONG_PRICES.map(value => ({
        name: `F18 a price of ${JSON.stringify(value)}`,
        responses: cell(2, 4, value),
        requests: 3,
        message: /row 2, element 4 \(close\): expected a decimal/,
      })),
      {
        name: 'F18 a price that is a number',
        responses: cell(2, 4, 1.5),
        requests: 3,
        message: /row 2, element 4 .*string/,
      },
      {
        name: 'F18 a price with terminal control characters',
        responses: cell(2, 4, '\u001b[2J\u009b2J\u202e\u2028\u007f'),
        requests: 3,
        message: /row 2, element 4 \(close\): expected a decimal/,
      },
      {
        name: 'F19 a duplicate row',
        responses: rows([...VALID.slice(0, 3), ...VALID.slice(2)]),
        requests: 3,
        message: /row 3, element 0 \(open_time\): .*does not come after the row before/,
      },
      {
        name: 'F19 rows in descending order',
        responses: rows(VALID.toReversed()),
        requests: 3,
        message: /row 1, element 0 \(open_time\): .*does not come after/,
      },
      {
        name: 'F19 a close before the open',
        responses: cell(1, 6, 1),
        requests: 3,
        message: /row 1, element 6 .*before the open/,
      },
      {
        name: 'F20 a row before the window',
        responses: cell(0, 0, VALID[0][0] - 1),
        requests: 3,
        message: /row 0, element 0 \(open_time\): .*is outside the window/,
      },
      {
        name: "F20 a row at the window's end",
        responses: rows([...VALID, [...weekRows('2025-01-27')[0]]]),
        requests: 3,
        message: /row 8, element 0 \(open_time\): .*is outside the window/,
      },
      {
        name: "F20 another window's file",
        responses: rows(weekRows('2025-01-27')),
        requests: 3,
        message: /outside the window/,
      },
      {
        name: 'F20 microseconds',
        responses: cell(0, 0, VALID[0][0] * 1000),
        requests: 3,
        message: /outside the window/,
      },
      {
        name: 'F21 __proto__ instead of the rows',
        responses: ok(`{"__proto__":${BODY},"length":8}`),
        requests: 3,
        message: /expected an array of rows, got an object/,
      },
      {
        name: 'F21 __proto__ instead of a row',
        responses: ok('[{"__proto__":[1,2],"length":12}]'),
        requests: 3,
        message: /row 0: expected an array, got an object/,
      },
      {
        name: 'F21 five million empty arrays',
        responses: coded('gzip', gzipSync(`[${'[],'.repeat(5_500_000)}[]]`)),
        requests: 3,
        message: /the body is no list of rows/,
      },
      {
        name: 'F21 five million empty objects',
        responses: coded('gzip', gzipSync(`[${'{},'.repeat(5_500_000)}{}]`)),
        requests: 3,
        message: /the body is no list of rows/,
      },
      {
        name: 'F21 sixteen million nested arrays',
        responses: coded('gzip', gzipSync('['.repeat(16_000_000))),
        requests: 3,
        message: /the body is no list of rows/,
      },
      {
        name: 'F17 eight million elements in a row',
        responses: coded('gzip', gzipSync(`[[${'1,'.repeat(8_000_000)}1]]`)),
        requests: 3,
        message: /the body is no list of rows/,
      },
      {
        name: 'F21 200,000 nested arrays',
        responses: ok(`${'['.repeat(200_000)}${']'.repeat(200_000)}`),
        requests: 3,
        message: /row 0: expected 12 elements, got 1/,
      },
      {
        name: 'F21 200,000 unclosed arrays',
        responses: ok('['.repeat(200_000)),
        requests: 3,
        message: /not JSON/,
      },
      {
        name: 'F21 150,000 nested objects in a cell',
        responses: ok(String(BODY).replace('"0"]', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}]`)),
        requests: 3,
        message: /row 0, element 11 .*expected a string, got an object/,
      },
    ].map(
      runInChildProcess([
        'F13 bad UTF-8 in a cell',
        'F20 a row before the window',
        'F21 five million empty arrays',
        'F21 five million empty objects',
      ]),
    ),
  )
})

/** Returns the window with one row changed. */
function withRow(index: number, change: (row: unknown[]) => unknown): FaultResponse {
  return rows(VALID.map((row, at) => (at === index ? change([...row]) : row)))
}

/** Returns the window with one cell changed. */
function cell(row: number, element: number, value: unknown): FaultResponse {
  return withRow(row, cells => cells.with(element, value))
}
