import { describe, expect, it } from 'vitest'
import { parseHttpDate } from '../../src/sources/retry.js'

/** The example of RFC 9110, 5.6.7, which gives it in all three formats. */
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37)
const NOW = Date.UTC(2025, 1, 12)

describe('an HTTP date', () => {
  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'in each format: %s',
    text => expect(parseHttpDate(text, NOW)).toBe(EXAMPLE),
  )

  it('reads what toUTCString writes', () => {
    for (const time of [0, EXAMPLE, Date.UTC(2024, 1, 29), Date.UTC(9999, 11, 31, 23, 59, 59)]) {
      expect(parseHttpDate(new Date(time).toUTCString(), NOW)).toBe(time)
    }
  })

  it('has a year of two digits in the 50 years to come, or in the past', () => {
    const year = (digits: string) =>
      new Date(parseHttpDate(`Sunday, 06-Nov-${digits} 08:49:37 GMT`, NOW)!).getFullYear()
    expect([year('25'), year('75'), year('76'), year('99'), year('00')]).toEqual([2025, 2075, 1976, 1999, 2000])
  })

  it.each([
    '',
    '9999',
    '0',
    'yesterday',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun Nov 6 08:49:37 1994',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
  ])('is nothing else: %j', text => expect(parseHttpDate(text, NOW)).toBeUndefined())

  it('may be missing', () => expect(parseHttpDate(undefined)).toBeUndefined())
})
