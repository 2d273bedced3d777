import { describe, expect, it } from 'vitest'
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

  it.each(['', '1', 'h', '0h', '01h', '1.5h', '-1h', '1 h', '1H', '1mo', '1m2', '100001m', 'constructor'])(
    '%j is refused',
    text => {
      expect(thrownBy(() => parseTargetInterval(text))).toMatchObject({
        code: 'bad_option',
        message: expect.stringContaining(`"${text}"`),
      })
    },
  )
})

describe('whole candles', () => {
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
    ['1w', '1M', false],
    ['5h', '1M', false],
    ['9h', '9d', false],
    ['1h', '1h', false],
    ['1h', '15m', false],
  ] as const)('of %s into %s: %s', (source, name, fits) => {
    const target = parseTargetInterval(name)
    expect(isMultiple(target, source)).toBe(fits)
    if (fits) expect(() => checkMultiple(target, source)).not.toThrow()
    else expect(thrownBy(() => checkMultiple(target, source))).toMatchObject({ code: 'bad_option' })
  })
})
