import { describe, expect, it } from 'vitest'
import { EXCHANGE_INTERVALS, type Interval } from '../../src/candles/intervals.js'
import { checkMultiple, isMultiple, parseTargetInterval } from '../../src/rows/target-interval.js'
import { thrownBy } from '../support/thrown-by.js'

describe('a target interval', () => {
  it.each([
    ['45m', { ms: 45 * 60_000 }],
    [' 3h ', { ms: 3 * 3_600_000 }],
    ['2w', { ms: 14 * 86_400_000 }],
    ['1M', { months: 1 }],
    ['2q', { months: 6 }],
    ['100y', { months: 1200 }],
  ])('%j has the length %j', (text, length) => {
    expect(parseTargetInterval(text)).toEqual({ name: text.trim(), length })
  })

  it.each(['', '1', 'h', '0h', '01h', '1.5h', '-1h', '1 h', '1H', '1mo', '1m2', '100001m', '101y', 'constructor'])(
    '%j is refused',
    text => {
      expect(thrownBy(() => parseTargetInterval(text))).toMatchObject({
        code: 'unknown_interval',
        message: expect.stringContaining(`"${text}"`),
      })
    },
  )
})

/** Which intervals of the exchange each one divides: 60 pairs of the twelve, and 38 of 1m, 3m and 5m. */
const FITS: Record<Interval, string> = {
  '1m': '3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M',
  '3m': '15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M',
  '5m': '15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M',
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
  it.each(EXCHANGE_INTERVALS)('of %s fit into exactly these of the fifteen', source => {
    expect(EXCHANGE_INTERVALS.filter(name => isMultiple(parseTargetInterval(name), source)).join(' ')).toBe(
      FITS[source],
    )
  })

  it.each([
    ['15m', '45m', true],
    ['30m', '45m', false],
    ['1h', '3h', true],
    ['12h', '2d', true],
    ['3d', '6d', true],
    ['3d', '2w', false],
    ['1w', '2w', true],
    ['1M', '1q', true],
    ['1M', '1w', false],
    ['1d', '1q', true],
    ['3h', '1d', true],
    ['5h', '1d', false],
    ['2d', '4d', true],
    ['1q', '1y', true],
    ['1h', '1h', false],
    ['1h', '15m', false],
  ] as const)('of %s into %s: %s', (source, name, fits) => {
    const target = parseTargetInterval(name)
    expect(isMultiple(target, source)).toBe(fits)
    if (fits) expect(() => checkMultiple(target, source)).not.toThrow()
    else expect(thrownBy(() => checkMultiple(target, source))).toMatchObject({ code: 'bad_option' })
  })
})
