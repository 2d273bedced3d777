import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countLengths,
  EXCHANGE_INTERVALS,
  INTERVALS,
  isInterval,
  LENGTHS,
  nextOpenTime,
  parseInterval,
} from '../../src/candles/intervals.js'
import { INTERVAL_LENGTHS } from '../support/oracles/intervals.js'
import { thrownBy } from '../support/thrown-by.js'

describe('parseInterval', () => {
  test('INTERVALS are the twelve of the service, shortest first', () => {
    expect(INTERVALS.join(' ')).toBe('15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M')
  })

  test.each(EXCHANGE_INTERVALS)('accepts %s, with white space around it too', interval => {
    expect(parseInterval(interval)).toBe(interval)
    expect(parseInterval(` ${interval}\n`)).toBe(interval)
    expect(isInterval(interval)).toBe(true)
  })

  const nearMisses: [string, string[]][] = [
    ['1s', ['https://data.binance.vision has candles of 1s, as daily archives.']],
    ['1min', ['Did you mean 1m (a minute)?']],
    ['1H', ['Did you mean 1h?']],
    ['60m', ['Did you mean 1h?']],
    ['3h', ['--resample 3h makes such candles of shorter ones: -i 1h']],
    ['3M', ['--resample 3M makes such candles of shorter ones: -i 1M']],
    ['hourly', ['Did you mean 1h?']],
    ['24h', ['Did you mean 1d?']],
    ['60', ['Did you mean 1h?']],
    ['1month', ['Did you mean 1M (a month)?']],
    ['week', ['Did you mean 1w?']],
    ['1mo', ['Did you mean 1M (a month)?']],
    ['', []],
    ['__proto__', []],
  ]
  test.each(nearMisses)('refuses %j, with the suggestions %j', (text, suggestions) => {
    const error = thrownBy(() => parseInterval(text))
    expect(error.code).toBe('unknown_interval')
    expect(error.message).toBe(
      `Unknown interval "${text}". Expected one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w, 1M.`,
    )
    expect(error.suggestions).toEqual(suggestions)
    expect(isInterval(text)).toBe(false)
  })
})

describe('the grid of an interval', () => {
  test.each(INTERVAL_LENGTHS)('%s: steps of %i ms, from any start', (interval, length) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2e12 }), fc.nat(100_000), (openTime, steps) => {
        expect(nextOpenTime(interval, openTime)).toBe(openTime + length)
        expect(countLengths(LENGTHS[interval], openTime, openTime + steps * length)).toBe(steps)
        expect(countLengths(LENGTHS[interval], openTime, openTime + (steps + 1) * length - 1)).toBe(steps)
      }),
    )
  })

  test('1M: steps of calendar months, across leap years and turns of the year', () => {
    const months = Array.from({ length: 12 * 40 }, (_, month) =>
      Date.parse(`${1990 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}-01T00:00:00Z`),
    )
    for (const [index, month] of months.slice(0, -1).entries())
      expect(nextOpenTime('1M', month)).toBe(months[index + 1])
    fc.assert(
      fc.property(fc.nat(months.length - 1), fc.nat(months.length - 1), (a, b) => {
        expect(countLengths(LENGTHS['1M'], months[a], months[b])).toBe(b - a)
      }),
    )
  })
})
