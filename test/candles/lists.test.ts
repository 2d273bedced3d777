import { describe, expect, test } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { findMissingStartDates, parseStartDates, parseSymbols } from '../../src/candles/lists.js'
import { SYMBOLS } from '../../src/candles/symbols.js'
import { thrownBy } from '../support/thrown-by.js'
import { toJsonBytes } from '../support/windows.js'

const utf8 = (text: string) => new TextEncoder().encode(text)

const NOT_JSON: [string, Uint8Array][] = [
  ['an empty body', new Uint8Array()],
  ['a web page', utf8('<!doctype html>')],
  ['a truncated list', utf8('["2024-01-01",')],
  ['bytes that are not UTF-8', Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)],
]
const WRONG_SHAPES: [string, unknown, string][] = [
  ['an object', { 0: 'x', length: 1 }, 'it is not an array'],
  ['a number in the list', [20_240_201], 'entry 0 is 20240201'],
  ['null in the list', [null], 'entry 0 is null'],
]

describe.each([
  ['start dates', (bytes: Uint8Array) => parseStartDates(bytes, '1h') as unknown],
  ['symbols', (bytes: Uint8Array) => parseSymbols(bytes) as unknown],
])('the list of %s', (_, parse) => {
  test.each(NOT_JSON)('%s is refused as not JSON', (_, bytes) => {
    expect(thrownBy(() => parse(bytes))).toMatchObject({ code: 'bad_list', data: { kind: 'not_json' } })
  })

  test.each(WRONG_SHAPES)('%s is refused for its shape', (_, value, message) => {
    const error = thrownBy(() => parse(toJsonBytes(value)))
    expect(error).toMatchObject({ code: 'bad_list', data: { kind: 'shape' } })
    expect(error.message).toContain(message)
  })
})

describe('start dates', () => {
  test('are accepted when windows can start on them, also outside the known range', () => {
    const dates = ['1999-12-01', '2022-01-01', '2022-03-01', '2055-01-01']
    expect(parseStartDates(toJsonBytes(dates), '1h')).toEqual(dates)
    expect(parseStartDates(utf8('\ufeff [ ]'), '1h')).toEqual([])
  })

  test.each<[Interval, string[], string, string]>([
    ['1h', ['2024-01-01', '2024-02-31'], 'entry 1 is "2024-02-31"', '1 month'],
    ['1h', ['../../../etc/passwd'], 'entry 0 is "../../../etc/passwd"', '1 month'],
    ['1h', ['__proto__'], 'entry 0 is "__proto__"', '1 month'],
    ['1h', ['9'.repeat(1000)], `entry 0 is "${'9'.repeat(40)}..."`, '1 month'],
    ['1h', ['2024-02-01', '2024-01-01'], 'entry 1 is "2024-01-01"', '1 month'],
    ['1h', ['2024-01-01', '2024-01-01'], 'entry 1 is "2024-01-01"', '1 month'],
    ['1h', ['2024-01-02'], 'entry 0 is "2024-01-02"', '1 month'],
    ['30m', ['2024-01-08'], 'entry 0 is "2024-01-08"', '14 days'],
  ])('%s: %j is refused', (interval, dates, entry, length) => {
    const error = thrownBy(() => parseStartDates(toJsonBytes(dates), interval))
    expect(error.code).toBe('bad_list')
    const expected = `Expected a later day than the one before, on which a window of ${length} starts.`
    expect(error.message).toBe(`The list of ${interval} start dates is refused: ${entry}. ${expected}`)
  })
})

describe('symbols', () => {
  test('are returned in the order of the list', () => {
    const list = ['NEWUSDT', ...SYMBOLS.toReversed(), '1000SATSUSDT']
    expect(parseSymbols(toJsonBytes(list))).toEqual(list)
  })

  test.each([
    ['btcusdt', '"btcusdt"'],
    ['../BTCUSDT', '"../BTCUSDT"'],
    ['__proto__', '"__proto__"'],
    ['', '""'],
    ['A'.repeat(41), `"${'A'.repeat(40)}..."`],
    ['币\u202e安', String.raw`"币\u202e安"`],
    ['BTC\u001b[31m', String.raw`"BTC\u001b[31m"`],
  ])('%j is refused, and shown so that a terminal takes nothing for a command', (name, shown) => {
    const error = thrownBy(() => parseSymbols(toJsonBytes(['BTCUSDT', name])))
    expect(error.code).toBe('bad_list')
    expect(error.message).toBe(`The list of symbols is refused: entry 1 is ${shown}, not a symbol.`)
  })
})

describe('findMissingStartDates', () => {
  const now = Date.UTC(2025, 1, 12)
  const missing = (list: string[], known: string[] = []) => findMissingStartDates(list, '1d', { known, now })
  // Windows of 1d begin every other year on 1 January.
  test.each<[string, string[], string[]]>([
    ['a hole', ['2016-01-01', '2018-01-01', '2022-01-01', '2024-01-01'], ['2020-01-01']],
    ['the present', ['2016-01-01', '2018-01-01', '2020-01-01'], ['2022-01-01', '2024-01-01']],
    ['a window of the future', ['2024-01-01', '2028-01-01'], ['2026-01-01']],
    ['nothing: it begins later than the calendar', ['2022-01-01', '2024-01-01'], []],
    ['nothing: it ends with the present window', ['2024-01-01'], []],
  ])('of a list that lacks %s', (_, list, expected) => {
    expect(missing(list)).toEqual(expected)
  })

  test('knows what an earlier list or the cache knows', () => {
    const known = ['2030-01-01', '2016-01-01', '2014-01-01']
    expect(missing(['2016-01-01', '2018-01-01', '2020-01-01', '2022-01-01'], known)).toEqual([
      '2014-01-01',
      '2024-01-01',
      '2030-01-01',
    ])
    expect(missing([])).toEqual(['2016-01-01', '2018-01-01', '2020-01-01', '2022-01-01', '2024-01-01'])
  })

  test('expects no day of 1m, 3m or 5m after the last one, on which the list was made', () => {
    const days = ['2025-02-09', '2025-02-11']
    expect(findMissingStartDates(days, '1m', { known: [], now })).toEqual(['2025-02-10'])
    expect(findMissingStartDates([], '1m', { known: [], now }).at(-1)).toBe('2025-02-12')
  })
})
