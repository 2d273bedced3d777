import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { isKlinesError, type KlinesError } from '../../src/candles/errors.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { decodeInPlace, decodeWindow } from '../../src/rows/window-codec.js'
import { cases as casesOf } from '../support/cases.js'
import { klineRows, oddTexts, openTimesOf } from '../support/oracles/kline-arbitraries.js'
import { nextOpenTime, oracleRows, toTexts } from '../support/oracles/window-oracle.js'
import {
  FIVE_YEARS,
  type KnownWindow,
  LEAP_MONTH,
  sampleRow,
  TEN_YEARS,
  TWENTY_YEARS,
  TWO_YEARS,
  toBatch,
  toJsonBytes,
  WEEK,
} from '../support/windows.js'

const { window, span } = LEAP_MONTH
const START = span.startTime
const HOUR = 3_600_000
const DAY = 24 * HOUR
const KERNEL = new Kernel()
const utf8 = (text: string) => new TextEncoder().encode(text)

/** Every cell of a batch, by each method that reads it. */
function readCells(batch: KlineBatch) {
  return Array.from({ length: batch.length }, (_, row) => ({
    texts: COLUMNS.map((_, column) => batch.text(row, column)),
    numbers: [batch.openTime(row), batch.closeTime(row), batch.count(row)],
    row: batch.row(row),
  }))
}

function expectedCells(rows: NonNullable<ReturnType<typeof oracleRows>>) {
  return rows.map(row => {
    const texts = toTexts(row)
    const numbers = [row[0] + 0, row[6] + 0, row[8] + 0]
    return { texts, numbers, row: texts.map((text, index) => ([0, 6, 8].includes(index) ? Number(text) : text)) }
  })
}

function decodeError(bytes: Uint8Array, { window }: KnownWindow = LEAP_MONTH, anchor?: number): KlinesError {
  try {
    decodeWindow(bytes, window, anchor)
  } catch (error) {
    if (isKlinesError(error, 'bad_window')) return error
    throw error
  }
  throw new Error('The window was accepted.')
}

/** Copies the bytes of a window into the memory of the kernel, which still contains the window before. */
function readInto(bytes: Uint8Array): Buffer {
  const buffer = KERNEL.buffer(bytes.length)
  buffer.set(bytes)
  return buffer
}

/** Expects that both paths of the codec and the oracle agree. */
function expectSameAsOracle(bytes: Uint8Array, known: KnownWindow = LEAP_MONTH, anchor?: number): void {
  const { window } = known
  const rows = oracleRows(bytes, known, anchor)
  if (rows === undefined) {
    const { symbol, interval, startDate } = window
    expect(decodeError(bytes, known, anchor).message).toContain(`${symbol} ${interval} ${startDate}: `)
    expect(() => decodeInPlace(readInto(bytes), window, KERNEL, anchor)).toThrow()
    return
  }
  const batch = decodeWindow(bytes, window, anchor)
  expect(readCells(batch)).toEqual(expectedCells(rows))
  expect(batch.plain).toBe(rows.every(row => [...row[11]].every(letter => /^[\w.-]$/.test(letter))))
  expect(readCells(decodeInPlace(readInto(bytes), window, KERNEL, anchor))).toEqual(expectedCells(rows))
  // Only text that formats have to quote, and JSON that is not in the wire form, take the slow path.
  const isWireForm = Buffer.from(bytes).equals(toJsonBytes(rows)) && rows.every(row => /^[\w.-]*$/.test(row[11]))
  if (isWireForm && rows.length > 0) expect(decodeInPlace(readInto(bytes), window, KERNEL, anchor).kernel).toBe(KERNEL)
}

const spaces = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n ')

/** A string as JSON, with some of its characters escaped. */
function looseText(text: string, escapes: boolean[]): string {
  const letters = text.split('').map((letter, index) => {
    const code = letter.charCodeAt(0).toString(16).padStart(4, '0')
    return escapes[index % escapes.length] ? `\\u${code}` : JSON.stringify(letter).slice(1, -1)
  })
  return `"${letters.join('')}"`
}

function looseNumber(value: number, form: number): string {
  if (form === 1) return `${value}.0`
  if (form === 2) return `${value}e0`
  if (form === 3 && value % 1000 === 0) return `${value / 1000}E+3`
  return value === 0 && form === 4 ? '-0' : String(value)
}

/** Rows in valid but unusual JSON. */
const looseBytes = klineRows(LEAP_MONTH, { maxRows: 4, ignore: oddTexts }).chain(rows =>
  fc
    .record({
      gaps: fc.array(spaces, { minLength: 7, maxLength: 7 }),
      escapes: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      forms: fc.array(fc.nat(4), { minLength: 5, maxLength: 5 }),
      mark: fc.boolean(),
    })
    .map(({ gaps, escapes, forms, mark }) => {
      let turn = 0
      const gap = () => gaps[turn++ % gaps.length]
      const cell = (value: string | number) =>
        typeof value === 'string' ? looseText(value, escapes) : looseNumber(value, forms[turn++ % forms.length])
      const list = (items: string[]) => `[${gap()}${items.join(`${gap()},${gap()}`)}${gap()}]`
      const text = gap() + list(rows.map(row => list(row.map(cell)))) + gap()
      return utf8(mark ? `\ufeff${text}` : text)
    }),
)

const jsonBytes = fc.constantFrom(...utf8('[]",.-0123456789eE \\{}:n\n'))

type Edit = { at: number; kind: 'flip' | 'put' | 'insert' | 'delete' | 'cut' | 'repeat' | 'swap'; byte: number }
const edits: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(4000),
  kind: fc.constantFrom('flip', 'put', 'insert', 'delete', 'cut', 'repeat', 'swap'),
  byte: fc.oneof(jsonBytes, fc.nat(255)),
})

function applyEdit(bytes: number[], { at, kind, byte }: Edit): number[] {
  if (kind === 'repeat' || kind === 'swap') return editRows(bytes, at, kind)
  const i = bytes.length === 0 ? 0 : at % bytes.length
  if (kind === 'flip') return bytes.with(i, bytes[i] ^ (1 << (byte % 8)))
  if (kind === 'put') return bytes.with(i, byte)
  if (kind === 'insert') return bytes.toSpliced(i, 0, byte)
  return kind === 'delete' ? bytes.toSpliced(i, 1) : bytes.slice(0, i)
}

function editRows(bytes: number[], at: number, kind: 'repeat' | 'swap'): number[] {
  const text = Buffer.from(bytes).toString('latin1')
  const rows = text.slice(1, -1).split(/(?<=\]),(?=\[)/)
  const i = at % rows.length
  const next = (i + 1) % rows.length
  const edited = kind === 'repeat' ? rows.toSpliced(i, 0, rows[i]) : rows.with(i, rows[next]).with(next, rows[i])
  return [...Buffer.from(`[${edited.join(',')}]`, 'latin1')]
}

const editedBytes = fc
  .tuple(klineRows(LEAP_MONTH, { maxRows: 4 }), fc.array(edits, { minLength: 1, maxLength: 3 }))
  .map(([rows, list]) =>
    Uint8Array.from(
      list.reduce((bytes, edit) => (bytes.length ? applyEdit(bytes, edit) : bytes), [...toJsonBytes(rows)]),
    ),
  )

/** Values at the limits of what an element may be, and beyond. */
const oddCells = fc.oneof(
  fc.constantFrom<unknown>('', '.', '1.', '.5', '-1', '+1', '1e5', '0x1', ' 1', '1 ', '1,5', '1.5.5', '٣', '١.٢'),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    -0,
    2 ** 53 - 1,
    2 ** 53,
    -(2 ** 53),
    1e21,
    [],
    {},
    ['1'],
    '00',
    '0',
  ),
  fc.constantFrom<unknown>(START - 1, START, span.endTime - 1, span.endTime, String(START)),
  fc.jsonValue({ maxDepth: 2 }),
)
const oddRows = fc
  .tuple(klineRows(LEAP_MONTH, { maxRows: 3 }), fc.nat(2), fc.nat(12), oddCells)
  .map(([rows, row, element, cell]) =>
    toJsonBytes(rows.map((cells, i) => (i === row ? cells.toSpliced(element, 1, cell as never) : cells))),
  )

const KNOWN = [LEAP_MONTH, WEEK, FIVE_YEARS, TEN_YEARS, TWENTY_YEARS, TWO_YEARS]
/** Rows of a window of any kind, one of them with times and a count at the limits of what they may be. */
const oddTimes = fc.constantFrom(...KNOWN).chain(known => {
  const { interval } = known.window
  const openTimes = openTimesOf(known)
  const march = openTimes.filter(time => time === Date.parse('2018-03-01'))
  const distances = [1, -1, 1000, 60_000, HOUR, -HOUR, 4 * HOUR, DAY, -DAY, 3 * DAY, 7 * DAY, -3 * DAY]
  const jumps = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.constantFrom(...distances))
  const times = fc.record({
    openTime: fc.constantFrom(...march, ...openTimes.slice(0, 3), ...openTimes.slice(-3), ...openTimes.slice(0, 40)),
    opens: jumps,
    closes: jumps,
    closesFrom: fc.constantFrom('open', 'end', 'end'),
    count: fc.constantFrom(0, 0, 0, 1, 1, 1, 1, -1, -(2 ** 53) + 1),
  })
  return fc
    .tuple(
      klineRows(known, { maxRows: 4 }),
      fc.nat(4),
      times,
      fc.constantFrom(undefined, -DAY, 0, 3 * DAY, 600 * DAY, 1),
    )
    .map(([rows, at, { openTime, opens, closes, closesFrom, count }, shift]) => {
      const opened = openTime + opens
      const closed = (closesFrom === 'open' ? opened : nextOpenTime(interval, opened) - 1) + closes
      const odd = sampleRow(opened, { 6: closed, 8: count })
      const all = [...rows.slice(0, at), odd, ...rows.slice(at)].toSorted((a, b) => a[0] - b[0])
      const anchor = interval === '3d' && shift !== undefined ? openTimes[0] + shift : undefined
      return { known, bytes: toJsonBytes(all), spaced: utf8(` ${JSON.stringify(all)}`), anchor }
    })
})

describe('a window is accepted exactly when JSON.parse and the rules of a row accept it, with the same cells', () => {
  const cases: [string, fc.Arbitrary<Uint8Array>, number][] = [
    ['for valid but unusual JSON: white space, escapes, exponents, a byte order mark', looseBytes, 1000],
    ['for wire forms with bytes or rows changed', editedBytes, 2000],
    ['for rows with one element replaced or added', oddRows, 1500],
    ['for any JSON', fc.jsonValue().map(toJsonBytes), 500],
    ['for any bytes of JSON', fc.array(jsonBytes, { maxLength: 40 }).map(bytes => Uint8Array.from(bytes)), 1000],
  ]
  test.each(cases)('%s', (_, bytes, numRuns) => {
    fc.assert(
      fc.property(bytes, text => expectSameAsOracle(text)),
      { numRuns: casesOf(numRuns, Math.ceil(numRuns / 5)) },
    )
  })

  test('for rows of every kind of grid with one odd time or count, in the wire form and in other JSON', () => {
    const seen = { accepted: 0, refused: 0 }
    const property = fc.property(oddTimes, ({ known, bytes, spaced, anchor }) => {
      expectSameAsOracle(bytes, known, anchor)
      expectSameAsOracle(spaced, known, anchor)
      seen[oracleRows(bytes, known, anchor) ? 'accepted' : 'refused']++
    })
    fc.assert(property, { numRuns: casesOf(3000, 400) })
    // The rows must be of both kinds.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(casesOf(300, 40))
  })

  test('for rows off the grid at the end of February 2018, and 1 ms later', () => {
    const march = Date.parse('2018-03-01')
    const accepts = (...openTimes: number[]) => {
      const bytes = toJsonBytes(openTimes.map(time => sampleRow(time)))
      expectSameAsOracle(bytes, TWO_YEARS)
      return oracleRows(bytes, TWO_YEARS) !== undefined
    }
    expect([accepts(march - 1), accepts(march - 1, march), accepts(march - DAY, march)]).toEqual([true, true, true])
    expect([accepts(march + 1), accepts(march - DAY, march + 1)]).toEqual([false, false])
  })
})

describe('a body that breaks a rule is refused, and the message says where', () => {
  const row = (cells: Record<number, unknown> = {}) => sampleRow(START + 3_600_000, cells)
  const before = sampleRow(START)
  const decimal = (text: string): [string, unknown, string] => [
    `the decimal "${text}"`,
    [before, row({ 4: text })],
    `row 1, element 4 (close): expected a decimal such as "0.00100000", got "${text}"`,
  ]
  const cases: [string, unknown, string][] = [
    ['11 elements', [row().slice(0, 11)], 'row 0: expected 12 elements, got 11'],
    ['13 elements', [before, [...row(), '0']], 'row 1: expected 12 elements, got 13'],
    ['a row that is an object', [{ ...row() }], 'row 0: expected an array, got an object'],
    [
      'an unsafe integer',
      [row({ 8: 2 ** 53 })],
      'element 8 (count): expected an integer within +-(2^53-1), got 9007199254740992',
    ],
    ['a time in text', [row({ 6: '1' })], 'element 6 (close_time): expected an integer within +-(2^53-1), got "1"'],
    ['a price as a number', [row({ 1: 42_580 })], 'element 1 (open): expected a string, got 42580'],
    ...['1.', '.5', '-1', '1e5', ''].map(decimal),
    [
      'the same row twice',
      [before, before],
      'row 1, element 0 (open_time): 2024-02-01T00:00:00.000Z does not come after the row before, 2024-02-01T00:00:00.000Z',
    ],
    [
      'a row before the window',
      [sampleRow(START - 1)],
      'row 0, element 0 (open_time): 2024-01-31T23:59:59.999Z is outside the window, 2024-02-01T00:00:00.000Z to 2024-03-01T00:00:00.000Z',
    ],
    [
      'a row at the end of the window',
      [before, sampleRow(span.endTime)],
      'row 1, element 0 (open_time): 2024-03-01T00:00:00.000Z is outside the window',
    ],
    [
      'a close before the open',
      [sampleRow(START, { 6: START - 1 })],
      'row 0, element 6 (close_time): 2024-01-31T23:59:59.999Z is before the open time, 2024-02-01T00:00:00.000Z',
    ],
    [
      'a close at the open of the next candle',
      [before, row({ 6: START + 2 * HOUR })],
      'row 1, element 6 (close_time): 2024-02-01T02:00:00.000Z is after the end of the candle, 2024-02-01T01:59:59.999Z',
    ],
    [
      'a row of 30m',
      [before, sampleRow(START + HOUR / 2)],
      'row 1, element 0 (open_time): 2024-02-01T00:30:00.000Z is not on the grid of its series, where a candle opens at 2024-02-01T00:00:00.000Z',
    ],
    ['a negative count', [before, row({ 8: -1 })], 'row 1, element 8 (count): expected a number of trades, got -1'],
    ['an object', { rows: [] }, 'expected an array of rows, got an object'],
    ['the error object', { statusCode: 404, message: 'x', isError: true }, 'expected an array of rows, got an object'],
  ]
  test.each(cases)('%s', (_, value, message) => {
    expect(decodeError(toJsonBytes(value)).message).toContain(`BTCUSDT 1h 2024-02-01: `)
    expect(decodeError(toJsonBytes(value)).message).toContain(message)
  })

  const valid = JSON.stringify([before])
  const bodies: [string, Uint8Array, string][] = [
    ['an empty body', new Uint8Array(), 'the body is empty'],
    ['a web page', utf8('<!DOCTYPE html><html></html>'), 'the body is not JSON (it starts with "<!DOCTYPE html'],
    ['a web page behind white space', utf8('\n <html>'), 'the body is not JSON'],
    ['other text', utf8('Not found'), 'the body is not JSON (it starts with "Not found")'],
    ['a body cut short', utf8(valid.slice(0, -1)), 'the body is not JSON'],
    ['a second value after the first', utf8(`${valid}[]`), 'the body is not JSON'],
    ['one comma too many', utf8(`${valid.slice(0, -1)},]`), 'the body is not JSON'],
    ['UTF-16', new Uint8Array(Buffer.from(`\ufeff${valid}`, 'utf16le')), 'the body is not UTF-8 text'],
    [
      'bytes that are not UTF-8',
      new Uint8Array(Buffer.from(valid.replace('"0"', '"\xff"'), 'latin1')),
      'the body is not UTF-8 text',
    ],
  ]
  test.each(bodies)('%s', (_, bytes, message) => {
    const error = decodeError(bytes)
    expect(error.message).toContain(message)
    expect(error.data.kind).toBe('not_json')
  })

  test('200,000 nested arrays are refused without a crash', () => {
    const nested = utf8('['.repeat(200_000) + ']'.repeat(200_000))
    expect(decodeError(nested).message).toContain('row 0: expected 12 elements, got 1')
    const inside = utf8(`[${JSON.stringify(before).slice(0, -4)},${'['.repeat(200_000)}${']'.repeat(200_000)}]]`)
    expect(decodeError(inside).code).toBe('bad_window')
  })

  test('the message truncates a long value and escapes its control characters', () => {
    const { message } = decodeError(toJsonBytes([row({ 4: `\u001b[31m${'9'.repeat(1000)}` })]))
    expect(message).toContain('\\u001b[31m999')
    expect(message.length).toBeLessThan(200)
  })
})

describe('valid edge cases are accepted', () => {
  test('a byte order mark before the array', () => {
    expect(decodeWindow(utf8(`\ufeff${JSON.stringify([sampleRow(START)])}`), window).row(0)).toEqual(sampleRow(START))
  })

  test('the first and the last millisecond of the window, and a close at the open', () => {
    const rows = [sampleRow(START, { 6: START }), sampleRow(span.endTime - HOUR, { 6: span.endTime - 1 })]
    expect(readCells(decodeWindow(toJsonBytes(rows), window))).toEqual(expectedCells(rows))
  })
})

describe('a slice', () => {
  const instants = fc.oneof(
    fc.constantFrom(...openTimesOf(LEAP_MONTH)),
    fc.integer({ min: START - 10, max: span.endTime + 10 }),
  )

  test('[a, b) and [b, c) together are [a, c), also as slices of that', () => {
    const times = fc.tuple(instants, instants, instants).map(three => three.toSorted((x, y) => x - y))
    fc.assert(
      fc.property(klineRows(LEAP_MONTH, { maxRows: 12 }), times, (rows, [a, b, c]) => {
        const batch = toBatch(rows, LEAP_MONTH)
        const whole = batch.slice(a, c)
        const parts = [...readCells(batch.slice(a, b)), ...readCells(batch.slice(b, c))]
        expect(parts).toEqual(readCells(whole))
        expect([...readCells(whole.slice(a, b)), ...readCells(whole.slice(b, c))]).toEqual(parts)
      }),
      { numRuns: 200 },
    )
  })
})
