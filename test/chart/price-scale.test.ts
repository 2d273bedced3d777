import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PriceScale } from '../../src/chart/price-scale.js'

type Options = { low: number; high: number; log?: boolean; digits?: number }
const scaleOf = ({ low, high, ...options }: Options) => new PriceScale(low, high, options)
const texts = (options: Options, max: number) =>
  scaleOf(options)
    .ticks(max)
    .map(({ text }) => text)

describe('ticks', () => {
  it.each([
    [0, 10, 10, '0 2 4 6 8 10'],
    [65000, 79485.66, 5, '65000 70000 75000'],
    [0.00000841, 0.00001162, 4, '0.000009 0.000010 0.000011'],
  ])('of a linear axis from %s to %s, at most %s: %s', (low, high, max, expected) => {
    expect(texts({ low, high }, max).join(' ')).toBe(expected)
  })

  it.each([
    [0.00000001, 100000, 5, '0.000001 0.001 1 1000'],
    [1, 100, 10, '1 2 5 10 20 50 100'],
    [60000, 126199.63, 5, '60000 80000 100000 120000'],
  ])('of a log axis from %s to %s, at most %s: %s', (low, high, max, expected) => {
    expect(texts({ low, high, log: true }, max).join(' ')).toBe(expected)
  })

  it('have no more digits than prices', () => {
    expect(texts({ low: 1e-8, high: 2e-8 }, 5).join(' ')).toBe(
      '0.0000000100 0.0000000125 0.0000000150 0.0000000175 0.0000000200',
    )
    expect(texts({ low: 1e-8, high: 2e-8, digits: 8 }, 5).join(' ')).toBe('0.00000001 0.00000002')
  })

  it('lie where their texts say, ascending, on the axis, one at least and never more than wanted', () => {
    const prices = fc.tuple(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: -10, max: 6 }), fc.nat(10_000))
    fc.assert(
      fc.property(prices, fc.boolean(), fc.integer({ min: 2, max: 30 }), ([digits, exponent, percent], log, max) => {
        const low = digits * 10 ** exponent
        const scale = scaleOf({ low, high: low * (1 + percent / 100), log })
        const ticks = scale.ticks(max)
        expect(ticks.length).toBeGreaterThan(0)
        expect(ticks.length).toBeLessThanOrEqual(max)
        for (const [index, { price, position, text }] of ticks.entries()) {
          expect(text).toMatch(/^\d+(\.\d+)?$/)
          expect(price).toBe(Number(text))
          expect(position).toBe(scale.position(Number(text)))
          expect(position).toBeGreaterThanOrEqual(-1e-9)
          expect(position).toBeLessThanOrEqual(1 + 1e-9)
          if (index > 0) expect(position).toBeGreaterThan(ticks[index - 1].position)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('positions', () => {
  it('of a linear axis have equal differences, of a log axis equal ratios', () => {
    const linear = scaleOf({ low: 10, high: 1000 })
    expect([10, 257.5, 505, 1000].map(price => linear.position(price))).toEqual([0, 0.25, 0.5, 1])
    const log = scaleOf({ low: 10, high: 1000, log: true })
    expect([10, 100, 1000].map(price => log.position(price))).toEqual([0, 0.5, 1])
  })

  it('of equal prices are in the middle, and 0 is at the bottom', () => {
    const flat = scaleOf({ low: 40, high: 40 })
    expect(flat.position(40)).toBe(0.5)
    expect([flat.low, flat.high]).toEqual([38, 42])
    const zero = scaleOf({ low: 0, high: 0 })
    expect([zero.low, zero.high, zero.position(0)]).toEqual([0, 1, 0])
  })
})
