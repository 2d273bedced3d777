import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { NumberColumn } from '../../src/formats/columns.js'
import { sharedKernel } from '../../src/rows/wasm/kernel.js'
import { cases } from '../support/cases.js'
import { decimalTexts, sameNumber, scaledTo8 } from '../support/oracles/decimal-oracle.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

/** A batch with these opening prices, in the memory of a kernel. */
function rowsOf(texts: readonly string[]) {
  const { startTime } = LEAP_MONTH.span
  const rows = texts.map((text, row) => sampleRow(startTime + row * 3_600_000, { 1: text }))
  const batch = toBatch(rows, LEAP_MONTH)
  const kernel = sharedKernel()
  return { batch, kernel, address: kernel.addressOf(batch) }
}

/** The 128-bit integers that a DECIMAL(38,8) column stores; undefined when it refuses one. */
function decimals128(texts: readonly string[]): bigint[] | undefined {
  const column = new NumberColumn('open', 'decimal', 'little', texts.length, { inexactDoubles: 0 })
  try {
    column.append(rowsOf(texts), 0, texts.length, 0)
  } catch (error) {
    if (isKlinesError(error, 'digits_lost')) return undefined
    throw error
  }
  const { buffer } = column.take(texts.length).bytes
  const words = new BigUint64Array(buffer)
  return texts.map((_, row) => (words[2 * row + 1] << 64n) | words[2 * row])
}

/** The doubles that a column stores, and how many of them lost digits. */
function doubles(texts: readonly string[]) {
  const stats = { inexactDoubles: 0 }
  const column = new NumberColumn('open', 'double', 'little', texts.length, stats)
  column.append(rowsOf(texts), 0, texts.length, 0)
  const { bytes, min, max } = column.take(texts.length)
  return { values: [...new Float64Array(bytes.buffer)], min, max, inexact: stats.inexactDoubles }
}

describe('a DECIMAL(38,8) column', () => {
  it('stores any decimal times 10^8, or refuses it, like the oracle', () => {
    fc.assert(
      fc.property(fc.array(decimalTexts, { minLength: 1, maxLength: 20 }), texts => {
        const expected = texts.map(scaledTo8)
        expect(decimals128(texts)).toEqual(expected.includes(undefined) ? undefined : expected)
      }),
      { numRuns: cases(500, 150) },
    )
  })

  it('stores short and long decimals side by side', () => {
    const texts = ['1.5', `${'9'.repeat(30)}.99999999`, '0.00000001', '999999999999999.99999999', '1000000000000000.5']
    expect(decimals128(texts)).toEqual(texts.map(scaledTo8))
  })
})

it('the bounds of a column are those of its values, also where all are long', () => {
  const [low, high] = [`${'3'.repeat(29)}.25`, `${'9'.repeat(29)}.5`]
  for (const texts of [
    [high, low, high],
    [low, high],
    ['7', low, high],
  ]) {
    const least = texts.includes('7') ? '7' : low
    const column = new NumberColumn('open', 'decimal', 'big', texts.length, { inexactDoubles: 0 })
    column.append(rowsOf(texts), 0, texts.length, 0)
    expect(column.take(texts.length)).toMatchObject({ min: scaledTo8(least), max: scaledTo8(high) })
    expect(doubles(texts)).toMatchObject({ min: Number(least), max: Number(high) })
  }
})

it('a column begins again when its values are taken: its bounds, and the digits that are lost', () => {
  const stats = { inexactDoubles: 0 }
  const column = new NumberColumn('open', 'double', 'little', 1, stats)
  for (const text of ['956967472546.43256738', '1.5', '2.5']) {
    column.append(rowsOf([text]), 0, 1, 0)
    expect(column.take(1)).toMatchObject({ min: Number(text), max: Number(text) })
  }
  expect(stats.inexactDoubles).toBe(1)
})

describe('a column of doubles', () => {
  it('stores what Number() returns, bit for bit, and counts lost digits, for any decimal', () => {
    const far = fc.tuple(fc.nat(340), decimals(20, 1), fc.boolean()).map(([zeros, text, small]) => {
      const digits = text.replace('.', '')
      return small ? `0.${'0'.repeat(zeros)}${digits}` : digits + '0'.repeat(zeros)
    })
    const near = fc.tuple(fc.bigInt(2n ** 53n - 2000n, 2n ** 53n + 2000n), fc.nat(16)).map(([integer, fraction]) => {
      const digits = String(integer)
      return fraction === 0 ? digits : `${digits.slice(0, -fraction) || '0'}.${digits.slice(-fraction)}`
    })
    const half = fc.bigInt(2n ** 52n - 2000n, 2n ** 52n + 2000n).map(units => {
      const digits = String(units)
      return `${digits.slice(0, -8)}.${digits.slice(-8)}`
    })
    const wide = fc.oneof(decimalTexts, decimals(20, 30), decimals(16, 8), decimals(1, 340), far, near, half)
    fc.assert(
      fc.property(fc.array(wide, { minLength: 1, maxLength: 20 }), texts => {
        const { values, inexact } = doubles(texts)
        for (const [row, text] of texts.entries()) expect(Object.is(values[row], Number(text)), text).toBe(true)
        const isExact = (text: string) => Number.isFinite(Number(text)) && sameNumber(String(Number(text)), text)
        expect(inexact).toBe(texts.filter(text => !isExact(text)).length)
      }),
      { numRuns: cases(1500, 400) },
    )
  })
})
