import { gzipSync } from 'node:zlib'
import { describe } from 'vitest'
import { weekRows } from '../support/synthetic-tree.js'
import { ok, rows } from './support/answers.js'
import { checkRows, inLibrary } from './support/fault-row.js'
import { usePlaces, WEEK } from './support/fault-scenario.js'
import type { FaultAnswer } from './support/fault-server.js'

const newPlace = usePlaces()
const SOUND = weekRows(WEEK)
const BODY = Buffer.from(JSON.stringify(SOUND))

const coded = (coding: string, body: Buffer): FaultAnswer => ok(body, `Content-Encoding: ${coding}`)

describe('a body that is no text, or another one', () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')
  const badText = Buffer.from(JSON.stringify(SOUND).replace(/"0"\]\]$/, '"\xff"]]'), 'latin1')
  checkRows(
    newPlace,
    [
      { name: 'F13 bad UTF-8 in a cell', answers: ok(badText), asks: 3, says: /not UTF-8/ },
      {
        name: 'F13 an overlong sequence',
        answers: ok(Buffer.concat([BODY.subarray(0, -4), Buffer.from([0xc0, 0xaf]), BODY.subarray(-3)])),
        asks: 3,
        says: /not UTF-8/,
      },
      { name: 'F14 UTF-16 with its mark', answers: ok(utf16(`\ufeff${BODY}`)), asks: 3, says: /not UTF-8/ },
      { name: 'F14 UTF-16 without', answers: ok(utf16(String(BODY))), asks: 3, says: /not JSON/ },
      { name: 'F16 an object', answers: ok('{"0":[]}'), asks: 3, says: /expected an array of rows, got an object/ },
      { name: 'F16 null', answers: ok('null'), asks: 3, says: /expected an array of rows, got null/ },
      { name: 'F16 a text', answers: ok('"[]"'), asks: 3, says: /expected an array of rows/ },
      { name: 'F16 an error object with status 200', answers: ok('{"isError":true}'), asks: 3, says: /got an object/ },
      {
        name: 'F16 rows that are objects',
        answers: ok('[{"open_time":1}]'),
        asks: 3,
        says: /row 0: expected an array/,
      },
      { name: 'F16 two values', answers: ok(`${BODY}${BODY}`), asks: 3, says: /not JSON/ },
      { name: 'F16 a NUL behind it', answers: ok(`${BODY}\0`), asks: 3, says: /not JSON/ },
      { name: 'F17 11 elements', answers: changed(3, row => row.slice(0, 11)), asks: 3, says: /row 3: .*12.*got 11/ },
      { name: 'F17 13 elements', answers: changed(3, row => [...row, '0']), asks: 3, says: /row 3: .*12.*got 13/ },
      { name: 'F17 no element', answers: changed(0, () => []), asks: 3, says: /row 0: .*12.*got 0/ },
      ...['9007199254740993', '1e400', '1.5', 'true', '"1"', 'null', '-1e300'].map(value => ({
        name: `F18 a count of ${value}`,
        answers: ok(String(BODY).replace(',42,', `,${value},`)),
        asks: 3,
        says: /row 0, element 8 \(count\): expected an integer/,
      })),
      ...['', '.5', '1.', '-1', '+1', '1e5', 'NaN', 'Infinity', '1,5', ' 1', '0x10', '\u0661', '1_000'].map(value => ({
        name: `F18 a price of ${JSON.stringify(value)}`,
        answers: cell(2, 4, value),
        asks: 3,
        says: /row 2, element 4 \(close\): expected a decimal/,
      })),
      { name: 'F18 a price that is a number', answers: cell(2, 4, 1.5), asks: 3, says: /row 2, element 4 .*string/ },
      {
        name: 'F18 a price that would steer a terminal',
        answers: cell(2, 4, '\u001b[2J\u009b2J\u202e\u2028\u007f'),
        asks: 3,
        says: /row 2, element 4 \(close\): expected a decimal/,
      },
      {
        name: 'F19 a row twice',
        answers: rows([...SOUND.slice(0, 3), ...SOUND.slice(2)]),
        asks: 3,
        says: /row 3, element 0 \(open_time\): .*does not come after the row before/,
      },
      {
        name: 'F19 rows backwards',
        answers: rows(SOUND.toReversed()),
        asks: 3,
        says: /row 1, element 0 \(open_time\): .*does not come after/,
      },
      {
        name: 'F19 a close before the open',
        answers: cell(1, 6, 1),
        asks: 3,
        says: /row 1, element 6 .*before the open/,
      },
      {
        name: 'F20 a row before the window',
        answers: cell(0, 0, SOUND[0][0] - 1),
        asks: 3,
        says: /row 0, element 0 \(open_time\): .*is outside the window/,
      },
      {
        name: "F20 a row at the window's end",
        answers: rows([...SOUND, [...weekRows('2025-01-27')[0]]]),
        asks: 3,
        says: /row 8, element 0 \(open_time\): .*is outside the window/,
      },
      { name: "F20 another window's file", answers: rows(weekRows('2025-01-27')), asks: 3, says: /outside the window/ },
      { name: 'F20 microseconds', answers: cell(0, 0, SOUND[0][0] * 1000), asks: 3, says: /outside the window/ },
      {
        name: 'F21 __proto__ in the place of the rows',
        answers: ok(`{"__proto__":${BODY},"length":8}`),
        asks: 3,
        says: /expected an array of rows, got an object/,
      },
      {
        name: 'F21 __proto__ in the place of a row',
        answers: ok('[{"__proto__":[1,2],"length":12}]'),
        asks: 3,
        says: /row 0: expected an array, got an object/,
      },
      {
        name: 'F21 five million empty arrays',
        answers: coded('gzip', gzipSync(`[${'[],'.repeat(5_500_000)}[]]`)),
        asks: 3,
        says: /the body is no list of rows/,
      },
      {
        name: 'F21 five million empty objects',
        answers: coded('gzip', gzipSync(`[${'{},'.repeat(5_500_000)}{}]`)),
        asks: 3,
        says: /the body is no list of rows/,
      },
      {
        name: 'F21 sixteen million arrays in each other',
        answers: coded('gzip', gzipSync('['.repeat(16_000_000))),
        asks: 3,
        says: /the body is no list of rows/,
      },
      {
        name: 'F17 eight million elements in a row',
        answers: coded('gzip', gzipSync(`[[${'1,'.repeat(8_000_000)}1]]`)),
        asks: 3,
        says: /the body is no list of rows/,
      },
      {
        name: 'F21 200,000 arrays in each other',
        answers: ok(`${'['.repeat(200_000)}${']'.repeat(200_000)}`),
        asks: 3,
        says: /row 0: expected 12 elements, got 1/,
      },
      { name: 'F21 200,000 arrays without an end', answers: ok('['.repeat(200_000)), asks: 3, says: /not JSON/ },
      {
        name: 'F21 150,000 objects in a cell',
        answers: ok(String(BODY).replace('"0"]', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}]`)),
        asks: 3,
        says: /row 0, element 11 .*expected a string, got an object/,
      },
    ].map(
      inLibrary([
        'F13 bad UTF-8 in a cell',
        'F20 a row before the window',
        'F21 five million empty arrays',
        'F21 five million empty objects',
      ]),
    ),
  )
})

/** One row of the window made into another. */
function changed(index: number, change: (row: unknown[]) => unknown): FaultAnswer {
  return rows(SOUND.map((row, at) => (at === index ? change([...row]) : row)))
}

/** One cell of the window made into another. */
function cell(row: number, element: number, value: unknown): FaultAnswer {
  return changed(row, cells => cells.with(element, value))
}
