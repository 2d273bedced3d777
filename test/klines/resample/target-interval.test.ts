import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTERVALS, type Interval } from '../../../src/klines/intervals.js'
import {
  CandleGrid,
  checkMultiple,
  isMultiple,
  parseTargetInterval,
} from '../../../src/klines/resample/target-interval.js'
import { SYMBOLS } from '../../../src/klines/symbols.js'
import { thrownBy } from '../../support/thrown-by.js'

const at = (text: string) => Date.parse(text)

/** Interval, a moment, and when the candle of that moment opens and ends, by the calendar. */
const ALIGNED = [
  ['45m', '2024-01-01T01:00:00Z', '2024-01-01T00:45:00Z', '2024-01-01T01:30:00Z'],
  ['3h', '2024-01-01T02:59:59.999Z', '2024-01-01T00:00:00Z', '2024-01-01T03:00:00Z'],
  ['1d', '2024-02-29T23:59:59Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
  // Days from 1970-01-01: 19,722 of them to 2023-12-31 is even.
  ['2d', '2024-01-01T12:00:00Z', '2023-12-31T00:00:00Z', '2024-01-02T00:00:00Z'],
  ['1w', '2024-01-07T23:00:00Z', '2024-01-01T00:00:00Z', '2024-01-08T00:00:00Z'],
  ['1w', '2024-01-08T00:00:00Z', '2024-01-08T00:00:00Z', '2024-01-15T00:00:00Z'],
  ['2w', '1970-01-18T12:00:00Z', '1970-01-05T00:00:00Z', '1970-01-19T00:00:00Z'],
  ['1M', '2024-02-29T12:00:00Z', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
  ['1q', '2024-06-30T23:00:00Z', '2024-04-01T00:00:00Z', '2024-07-01T00:00:00Z'],
  ['3M', '2024-06-30T23:00:00Z', '2024-04-01T00:00:00Z', '2024-07-01T00:00:00Z'],
  ['1y', '2024-12-31T23:00:00Z', '2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'],
  ['3d', '2017-08-19T23:00:00Z', '2017-08-17T00:00:00Z', '2017-08-20T00:00:00Z'],
  ['3d', '2017-08-20T00:00:00Z', '2017-08-20T00:00:00Z', '2017-08-23T00:00:00Z'],
] as const

describe('a target interval', () => {
  it.each(ALIGNED)('%s holds %s in the candle from %s to %s', (name, moment, start, end) => {
    const target = parseTargetInterval(name)
    expect(new CandleGrid(target, 'BTCUSDT').start(at(moment))).toBe(at(start))
    expect(new CandleGrid(target, 'BTCUSDT').end(at(start))).toBe(at(end))
  })

  it.each([
    ['ETHUSDT', '2017-08-17'],
    ['BNBUSDT', '2017-11-06'],
    ['ADAUSDT', '2018-04-17'],
    ['XRPUSDT', '2018-05-04'],
    ['LINKUSDT', '2019-01-16'],
    ['DOGEUSDT', '2019-07-05'],
    ['SOLUSDT', '2020-08-11'],
    ['DOTUSDT', '2020-08-18'],
    ['AVAXUSDT', '2020-09-22'],
  ] as const)('of 3d begins for %s at its listing, %s', (symbol, date) => {
    const listed = at(date)
    expect(new CandleGrid(parseTargetInterval('3d'), symbol).start(listed)).toBe(listed)
    expect(new CandleGrid(parseTargetInterval('3d'), symbol).start(listed - 1)).toBe(listed - 3 * 86_400_000)
  })

  it('tiles time: every moment is in one candle, and the next begins where it ends', () => {
    const names = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom(...'mhdwMqy')).map(parts => parts.join(''))
    fc.assert(
      fc.property(
        names,
        fc.constantFrom(...SYMBOLS),
        fc.integer({ min: at('1960-01-01'), max: at('2040-01-01') }),
        (name, symbol, time) => {
          const target = parseTargetInterval(name)
          const buckets = new CandleGrid(target, symbol)
          const start = buckets.start(time)
          const end = buckets.end(start)
          expect(start <= time && time < end).toBe(true)
          expect([buckets.start(start), buckets.start(end - 1)]).toEqual([start, start])
          expect(buckets.start(end)).toBe(end)
        },
      ),
    )
  })

  it.each(['', '1', 'h', '0h', '01h', '1.5h', '-1h', '1 h', '1H', '1mo', '1m2', '100001m', '101y', 'constructor'])(
    'is not %j',
    text => {
      expect(thrownBy(() => parseTargetInterval(text))).toMatchObject({
        code: 'unknown_interval',
        message: expect.stringContaining(`"${text}"`),
      })
    },
  )
})

/** Which of the service's own intervals each fits into (observed.md: 60 pairs; 1M not from 3d or 1w). */
const FITS: Record<Interval, string> = {
  '15m': '30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M',
  '30m': '1h 2h 4h 6h 8h 12h 1d 3d 1w 1M',
  '1h': '2h 4h 6h 8h 12h 1d 3d 1w 1M',
  '2h': '4h 6h 8h 12h 1d 3d 1w 1M',
  '4h': '8h 12h 1d 3d 1w 1M',
  '6h': '12h 1d 3d 1w 1M',
  '8h': '1d 3d 1w 1M',
  '12h': '1d 3d 1w 1M',
  '1d': '3d 1w 1M',
  '3d': '',
  '1w': '',
  '1M': '',
}

describe('whole candles', () => {
  it.each(INTERVALS)('of %s fit into exactly these of the twelve', source => {
    expect(INTERVALS.filter(name => isMultiple(parseTargetInterval(name), source)).join(' ')).toBe(FITS[source])
  })

  it.each([
    ['15m', '45m', true],
    ['30m', '45m', false],
    ['1h', '3h', true],
    ['2h', '3h', false],
    ['12h', '2d', true],
    ['3d', '6d', true],
    ['3d', '2w', false],
    ['3d', '3w', false],
    ['1w', '2w', true],
    ['1w', '14d', true],
    ['1w', '1q', false],
    ['1M', '1q', true],
    ['1M', '1y', true],
    ['1M', '1w', false],
    ['1d', '1q', true],
    ['1h', '1h', false],
    ['1h', '15m', false],
  ] as const)('of %s into %s: %s', (source, name, fits) => {
    const target = parseTargetInterval(name)
    expect(isMultiple(target, source)).toBe(fits)
    if (fits) expect(() => checkMultiple(target, source)).not.toThrow()
    else expect(thrownBy(() => checkMultiple(target, source))).toMatchObject({ code: 'bad_option' })
  })
})
