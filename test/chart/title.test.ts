import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals, formatChange } from '../../src/candles/decimals.js'
import type { FittedCandles } from '../../src/chart/candle-fitter.js'
import { summarize } from '../../src/chart/summary.js'
import { daily, zigzag } from '../support/chart-series.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'

function title(fitted: FittedCandles) {
  const summary = summarize(fitted)
  if (summary === undefined) throw new Error('There is no candle.')
  return { ...summary.title, change: summary.change }
}

/** The same candles with other open times and intervals. */
function retimed(times: readonly number[], changes: Partial<FittedCandles>): FittedCandles {
  const days = daily(times.map((_, index) => ({ open: 5, high: 9 + index, low: 3 - index, close: 6, volume: 1 })))
  const slots = days.slots.map(({ candle }, index) => ({
    openTime: times[index],
    candle: candle && { ...candle, openTime: times[index] },
  }))
  return { ...days, slots, firstTime: times[0], lastTime: times[times.length - 1], ...changes }
}

describe('titles', () => {
  it('of daily candles', () => {
    expect(title(zigzag())).toEqual({
      name: 'BTCUSDT 1d',
      range: '2024-01-01 to 2024-02-09 UTC, 39 candles, 1 missing',
      resampled: undefined,
      change: '0.00%',
      prices: 'high 32 on 2024-01-20, low 0 on 2024-01-01, last 4',
    })
  })

  it.each([
    ['1w', 'in the 1w from 2024-04-01'],
    ['1M', 'in 2024-04'],
    ['1d', 'on 2024-04-01'],
    ['8h', 'at 2024-04-01 00:00'],
  ])('say when a high of %s is: %s', (interval, when) => {
    const { prices } = title(retimed([Date.UTC(2024, 2, 25), Date.UTC(2024, 3, 1)], { interval }))
    expect(prices).toBe(`high 10 ${when}, low 2 ${when}, last 6`)
  })

  it('say what was resampled, from which range', () => {
    const changes = { interval: '1M', resampledFrom: '1h', candles: 12_345, missing: 1_000 } as const
    const times = { firstTime: Date.UTC(2024, 0, 3, 7), lastTime: Date.UTC(2024, 2, 5, 4) }
    expect(title(retimed([Date.UTC(2024, 0), Date.UTC(2024, 2)], { ...changes, ...times }))).toMatchObject({
      name: 'BTCUSDT 1M',
      range: '2024-01-03 07:00 to 2024-03-05 04:00 UTC, 12,345 candles, 1,000 missing',
      resampled: '1h resampled to 1M',
      change: '+20.00%',
    })
  })
})

it('a high and a low are those that come first, and a volume has three digits and a unit', () => {
  const day = { open: 5, high: 9, low: 3, close: 4 }
  const volumes = [7, 999, 999_600, 44_932_000].map(volume => summarize(daily([{ ...day, volume }])))
  expect(volumes.map(summary => summary?.volumeText)).toEqual(['7 vol', '999 vol', '1M vol', '44.9M vol'])
  const { prices } = title(daily([{ ...day, high: 8, low: 4 }, day, day].map(prices => ({ ...prices, volume: 1 }))))
  expect(prices).toBe('high 9 on 2024-01-02, low 3 on 2024-01-02, last 4')
})

describe('changes', () => {
  it.each([
    ['66980.00000000', '75780.0', '+13.14%'],
    ['100', '99.996', '0.00%'],
    ['0.00000001', '100000', '+999999999999900.00%'],
    ['4', '0', '-100.00%'],
    ['0.000', '5', undefined],
  ])('from %s to %s: %s', (from, to, expected) => {
    expect(formatChange(from, to)).toBe(expected)
  })
})

describe('decimals', () => {
  it('are compared exactly (BigInt oracle)', () => {
    const units = (text: string) => {
      const [whole, fraction = ''] = text.split('.')
      return BigInt(whole + fraction.padEnd(40, '0'))
    }
    const pairs = fc.oneof(
      fc.tuple(decimals(), decimals()),
      decimals().map(text => [text, `00${text.includes('.') ? text : `${text}.`}00`] as [string, string]),
    )
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const expected = units(a) < units(b) ? -1 : units(a) > units(b) ? 1 : 0
        expect(Math.sign(compareDecimals(a, b))).toBe(expected)
        expect(Math.sign(compareDecimals(b, a))).toBe(expected === 0 ? 0 : -expected)
      }),
      { numRuns: 1_000 },
    )
  })
})
