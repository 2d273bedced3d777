import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { trimDecimal, writeDecimal128, writeDouble } from '../../../src/klines/batch/decimals.js'
import { decimals } from '../../support/oracles/kline-arbitraries.js'

/** The text between other digits and points, as it lies in a window file, and where. */
function embed(text: string) {
  const bytes = new TextEncoder().encode(`9.9${text}9.9`)
  return { bytes, start: 3, end: 3 + text.length }
}

/** The scaled integer that is written for `text`; false when it is refused. */
function decimal128(text: string): bigint | false {
  const out = new Uint32Array(6).fill(0xdead_beef)
  const { bytes, start, end } = embed(text)
  const fits = writeDecimal128(bytes, start, end, out, 1)
  expect([out[0], out[5]]).toEqual([0xdead_beef, 0xdead_beef])
  return fits && [4, 3, 2, 1].reduce((value, word) => (value << 32n) | BigInt(out[word]), 0n)
}

function double(text: string): { value: number; exact: boolean } {
  const out = new Float64Array(3).fill(-1)
  const { bytes, start, end } = embed(text)
  const exact = writeDouble(bytes, start, end, out, 1)
  expect([out[0], out[2]]).toEqual([-1, -1])
  return { value: out[1], exact }
}

/** `text` as an integer times a power of ten. */
function scaled(text: string): { digits: bigint; exponent: number } {
  const [, whole, fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? []
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

function sameNumber(a: string, b: string): boolean {
  const [x, y] = [scaled(a), scaled(b)]
  const low = Math.min(x.exponent, y.exponent)
  return x.digits * 10n ** BigInt(x.exponent - low) === y.digits * 10n ** BigInt(y.exponent - low)
}

/** `text` times 10^8, when that is an integer of at most 38 digits. */
function scaledTo8(text: string): bigint | false {
  const { digits, exponent } = scaled(text)
  const places = 10n ** BigInt(Math.abs(exponent + 8))
  if (exponent >= -8) return digits * places < 10n ** 38n && digits * places
  return digits % places === 0n && digits / places < 10n ** 38n && digits / places
}

/** Texts of every length, with zeros that say nothing in front and behind. */
const texts = fc.oneof(
  decimals(30, 8),
  decimals(34, 12),
  fc
    .tuple(fc.nat(12), decimals(30, 8), fc.nat(12))
    .map(([front, text, behind]) => '0'.repeat(front) + text + (text.includes('.') ? '0'.repeat(behind) : '')),
)

describe('DECIMAL(38,8) is the text times 10^8, without a float on the way', () => {
  test.each<[string, bigint]>([
    ['0', 0n],
    ['1', 100_000_000n],
    ['0.00000001', 1n],
    ['42580.00000000', 4_258_000_000_000n],
    ['956967472546.43256738', 95_696_747_254_643_256_738n],
    ['1.5', 150_000_000n],
    ['0000000000000000000000000000000000000000012.34', 1_234_000_000n],
    ['1.00000001000000000000', 100_000_001n],
    [`${'9'.repeat(30)}.99999999`, 10n ** 38n - 1n],
  ])('%s', (text, value) => {
    expect(decimal128(text)).toBe(value)
  })

  test.each(['0.000000001', '1.123456789', '5.00000000000001', `1${'0'.repeat(30)}`, `${'9'.repeat(31)}.1`])(
    '%s has more digits than fit, and is refused',
    text => {
      expect(decimal128(text)).toBe(false)
    },
  )

  test('for any decimal, as BigInt has it', () => {
    fc.assert(
      fc.property(texts, text => {
        expect(decimal128(text)).toBe(scaledTo8(text))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a double is the one Number() gives, and says when it has lost digits', () => {
  test.each<[string, boolean]>([
    ['0', true],
    ['0.00000000', true],
    ['42580.00000000', true],
    ['0.1', true],
    ['9007199254740991', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['9007199254740993.00000000', false],
    ['956967472546.43256738', false],
    ['90071992.54740993', false],
    ['90071992.54740992', true],
    ['123456789012345678', false],
    ['1000000000000000000000000', true],
    ['0.00000000000000000000000001', true],
  ])('%s: %s', (text, exact) => {
    expect(double(text)).toEqual({ value: Number(text), exact })
  })

  test('what is too large, too small or subnormal for a double has lost its digits, few as they are', () => {
    expect(double(`1${'0'.repeat(400)}`)).toEqual({ value: Number.POSITIVE_INFINITY, exact: false })
    expect(double(`0.${'0'.repeat(400)}1`)).toEqual({ value: 0, exact: false })
    const subnormal = `0.${'0'.repeat(318)}123456`
    expect(double(subnormal)).toEqual({ value: Number(subnormal), exact: false })
  })

  test('for any decimal, bit for bit', () => {
    const far = fc.tuple(fc.nat(340), decimals(20, 1), fc.boolean()).map(([zeros, text, small]) => {
      const digits = text.replace('.', '')
      return small ? `0.${'0'.repeat(zeros)}${digits}` : digits + '0'.repeat(zeros)
    })
    const wide = fc.oneof(texts, decimals(20, 30), decimals(16, 8), decimals(1, 340), far)
    fc.assert(
      fc.property(wide, text => {
        const { value, exact } = double(text)
        expect(Object.is(value, Number(text))).toBe(true)
        expect(exact).toBe(Number.isFinite(value) && sameNumber(String(value), text))
      }),
      { numRuns: 5000 },
    )
  })

  test('around the largest integer that is exact, bit for bit', () => {
    const near = fc.tuple(fc.bigInt(2n ** 53n - 2000n, 2n ** 53n + 2000n), fc.nat(16)).map(([integer, fraction]) => {
      const digits = String(integer)
      return fraction === 0 ? digits : `${digits.slice(0, -fraction) || '0'}.${digits.slice(-fraction)}`
    })
    fc.assert(
      fc.property(near, text => {
        const { value, exact } = double(text)
        expect(Object.is(value, Number(text))).toBe(true)
        expect(exact).toBe(sameNumber(String(value), text))
      }),
      { numRuns: 3000 },
    )
  })
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
      fc.property(texts, fc.nat(9), fc.nat(9), (text, front, behind) => {
        const padded = '0'.repeat(front) + (text.includes('.') ? text + '0'.repeat(behind) : text)
        expect(sameNumber(trimDecimal(text), text)).toBe(true)
        expect(trimDecimal(padded)).toBe(trimDecimal(text))
        expect(trimDecimal(trimDecimal(text))).toBe(trimDecimal(text))
      }),
      { numRuns: 1000 },
    )
  })
})
