import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { CANDLE_LINES, Fingerprinter, fingerprintSet, isFingerprint } from '../../src/rows/fingerprint.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { decodeInPlace, decodeWindow } from '../../src/rows/window-codec.js'
import { cases } from '../support/cases.js'
import { cutBatches } from '../support/exporting.js'
import { candleLine, fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { decimals, klineRows } from '../support/oracles/kline-arbitraries.js'
import { FIVE_YEARS, LEAP_MONTH, sampleRow, TEN_YEARS, TWENTY_YEARS, toBatch } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000

function fingerprint(series: { symbol: string; interval: string }, batches: readonly KlineBatch[]) {
  const fingerprinter = new Fingerprinter(series)
  for (const batch of batches) fingerprinter.add(batch)
  return fingerprinter.finish()
}

/** The lines of a batch. */
function linesOf(batch: KlineBatch): string {
  const pieces: string[] = []
  CANDLE_LINES.write(batch, lines => pieces.push(Buffer.from(lines).toString()))
  return pieces.join('')
}
const linesOfRows = (rows: readonly KlineRow[]) => linesOf(toBatch(rows, LEAP_MONTH))

describe('a candle has one line, however its numbers are written', () => {
  test.each([
    ['42580.00000000', '42580'],
    ['0.00000000', '0'],
    ['0', '0'],
    ['000', '0'],
    ['007', '7'],
    ['00.50', '0.5'],
    ['100', '100'],
    ['100.0', '100'],
    ['0.00000100', '0.000001'],
    ['10.010', '10.01'],
    [
      '12345678901234567890123456789012345.1234567890123456789012345678900',
      '12345678901234567890123456789012345.12345678901234567890123456789',
    ],
  ])('%s is %s', (written, canonical) => {
    const [line] = linesOfRows([sampleRow(START, { 1: written })]).split('\n')
    expect(line.split(',')[1]).toBe(canonical)
    expect(line.split(',')).toHaveLength(11)
  })

  test('integers that JSON may write otherwise have decimal digits alone, and the last cell is no part of it', () => {
    const row = sampleRow(START, { 11: 'x,y\n' })
    const odd = JSON.stringify([row]).replace(String(row[8]), '5.3210e4').replace(String(START), `${START}.0`)
    const batch = decodeWindow(Buffer.from(odd), LEAP_MONTH.window)
    expect(linesOf(batch)).toBe(candleLine(row))
    const zero = decodeWindow(Buffer.from(JSON.stringify([row]).replace(`,${row[8]},`, ',-0,')), LEAP_MONTH.window)
    expect([linesOf(zero).split(',')[8], zero.count(0)]).toEqual(['0', 0])
  })

  test('any rows have the lines of the definition', () => {
    const rows = klineRows(LEAP_MONTH, { decimal: fc.oneof(decimals(), decimals(60, 60)) })
    fc.assert(
      fc.property(rows, rows => {
        expect(linesOfRows(rows)).toBe(rows.map(candleLine).join(''))
        const kernel = new Kernel()
        const inPlace = decodeInPlace(Buffer.from(JSON.stringify(rows)), LEAP_MONTH.window, kernel)
        expect(linesOf(inPlace)).toBe(linesOfRows(rows))
      }),
      { numRuns: cases(200, 40) },
    )
  })
})

describe('a fingerprint', () => {
  test('is that of the definition, calculated by another program', () => {
    const rows = [sampleRow(START), sampleRow(START + HOUR, { 5: '0.00000000' })]
    expect(fingerprint(LEAP_MONTH.window, [toBatch(rows, LEAP_MONTH)])).toEqual({
      symbol: 'BTCUSDT',
      interval: '1h',
      fingerprint: 'klines:1:ebd63a7e8c24960401e557c04444bde3a855b4d0e901c4a47bf063ca74cffca1',
      candles: 2,
      firstOpenTime: START,
      lastOpenTime: START + HOUR,
      years: [{ year: 2024, candles: 2, sha256: '9542b60480c0695c141716e0b45f69761de1b493f60da254a4bcf7f5ad6ad5eb' }],
    })
  })

  test.each([LEAP_MONTH, FIVE_YEARS, TEN_YEARS, TWENTY_YEARS])(
    'depends on the candles alone, not on how they are cut into batches: $window.interval',
    known => {
      const { symbol, interval } = known.window
      const cuts = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 })
      fc.assert(
        fc.property(klineRows(known, { maxRows: 12 }), cuts, (rows, cuts) => {
          fc.pre(rows.length > 0)
          const batch = toBatch(rows, known)
          const found = fingerprint(known.window, cutBatches([batch], cuts))
          expect(found?.fingerprint).toBe(fingerprintOf(symbol, interval, rows))
          expect(found?.candles).toBe(rows.length)
          const years = new Set(rows.map(([time]) => new Date(time).getUTCFullYear()))
          expect(found?.years.map(({ year }) => year)).toEqual([...years])
        }),
        { numRuns: cases(200, 40) },
      )
    },
  )

  test.each([
    ['60m', '1h'],
    ['1h', '1h'],
    ['1m', '1m'],
    ['1M', '1M'],
    ['180m', '3h'],
    ['90m', '90m'],
    ['24h', '1d'],
    ['7d', '1w'],
    ['3M', '1q'],
    ['12M', '1y'],
    ['6M', '2q'],
    ['1q', '1q'],
  ])('of %s candles names them %s', (written, name) => {
    const batch = toBatch([sampleRow(START)], LEAP_MONTH)
    const found = fingerprint({ symbol: 'BTCUSDT', interval: written }, [batch])
    expect(found?.interval).toBe(name)
    expect(found?.fingerprint).toBe(fingerprintOf('BTCUSDT', name, [sampleRow(START)]))
  })
})

describe('the fingerprint of a set', () => {
  const member = (symbol: string, interval: string) => ({ symbol, interval, fingerprint: `klines:1:${'a'.repeat(64)}` })

  test('does not depend on the order, which is that of bytes', () => {
    // By UTF-16, the second one comes before the first.
    const all = [member('ﬀUSDT', '1h'), member('𠀀USDT', '1h'), member('BTCUSDT', '1d'), member('BTCUSDT', '12h')]
    expect(fingerprintSet(all)).toBe('klines:1:set:ef7e3a6e8dd77a6b08d82fd6801ea0cff352f737b0d8de4c2177ccb183294325')
    expect(fingerprintSet(all.toReversed())).toBe(fingerprintSet(all))
    expect(() => fingerprintSet([...all, all[2]])).toThrow('BTCUSDT 1d is there twice. Expected each series once.')
  })
})

describe('a fingerprint that anybody may have written', () => {
  const made = fingerprint(LEAP_MONTH.window, [toBatch([sampleRow(START)], LEAP_MONTH)])

  test('is one when it is made of its years', () => {
    expect(isFingerprint(made)).toBe(true)
    const empty = { candles: 0, years: [{ ...made?.years[0], candles: 0 }] }
    const others = [
      { candles: 2 },
      { candles: 0 },
      { years: [] },
      empty,
      { firstOpenTime: 0.5 },
      { lastOpenTime: 9e15 },
    ]
    for (const other of others) expect(isFingerprint({ ...made, ...other })).toBe(false)
    expect(isFingerprint({ ...made, fingerprint: `klines:1:${'a'.repeat(64)}` })).toBe(false)
  })

  test.each(['', '1', '60m', ' 1h', '9999999m', '99999y', '1x', 1, null])('is none of the interval %j', interval => {
    expect(isFingerprint({ ...made, interval })).toBe(false)
  })
})
