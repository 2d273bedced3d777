import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { trimDecimal } from '../../src/candles/decimals.js'
import { isSameNumber, parseDecimal } from '../../src/formats/columns.js'
import { decimalTexts, sameNumber, scaledTo8 } from '../support/oracles/decimal-oracle.js'

describe('a decimal in units of 10^-8', () => {
  test.each<[string, bigint]>([
    ['0', 0n],
    ['1', 100_000_000n],
    ['0.00000001', 1n],
    ['42580.00000000', 4_258_000_000_000n],
    ['0000000000000000000000000000000000000000012.34', 1_234_000_000n],
    ['1.00000001000000000000', 100_000_001n],
    [`${'9'.repeat(30)}.99999999`, 10n ** 38n - 1n],
  ])('%s', (text, value) => {
    expect(parseDecimal(text)).toBe(value)
  })

  test.each(['0.000000001', '1.123456789', '5.00000000000001', `1${'0'.repeat(30)}`, `${'9'.repeat(31)}.1`])(
    '%s has more digits than DECIMAL(38,8)',
    text => {
      expect(parseDecimal(text)).toBeUndefined()
    },
  )

  test('equals the oracle for any decimal', () => {
    fc.assert(
      fc.property(decimalTexts, text => {
        expect(parseDecimal(text)).toBe(scaledTo8(text))
      }),
      { numRuns: 3000 },
    )
  })
})

test.each<[string, boolean]>([
  ['0.00000000', true],
  ['0.1', true],
  ['9007199254740993', false],
  ['956967472546.43256738', false],
  ['1000000000000000000000000', true],
  ['0.00000000000000000000000001', true],
])('whether a double and a decimal are the same number %s: %s', (text, same) => {
  expect(isSameNumber(Number(text), text)).toBe(same)
})

describe('a trimmed decimal', () => {
  test.each([
    ['0012.3400', '12.34'],
    ['5.000', '5'],
    ['0', '0'],
    ['000', '0'],
    ['0.0', '0'],
    ['000.100', '0.1'],
    ['100', '100'],
    ['10.01', '10.01'],
  ])('%s is %s', (text, trimmed) => {
    expect(trimDecimal(text)).toBe(trimmed)
  })

  test('is the same number, and equal numbers are trimmed to equal texts', () => {
    fc.assert(
      fc.property(decimalTexts, fc.nat(9), fc.nat(9), (text, leading, trailing) => {
        const padded = '0'.repeat(leading) + (text.includes('.') ? text + '0'.repeat(trailing) : text)
        expect(sameNumber(trimDecimal(text), text)).toBe(true)
        expect(trimDecimal(padded)).toBe(trimDecimal(text))
        expect(trimDecimal(trimDecimal(text))).toBe(trimDecimal(text))
      }),
      { numRuns: 1000 },
    )
  })
})
