import { describe, expect, it } from 'vitest'
import { parseHttpDate } from '../../../src/server/http-date.js'

/** The example of RFC 9110, 5.6.7, which gives it in all three formats. */
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37)

describe('an HTTP date', () => {
  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'in each format: %s',
    text => expect(parseHttpDate(text)).toBe(EXAMPLE),
  )

  it('reads what toUTCString writes', () => {
    for (const time of [0, EXAMPLE, Date.UTC(2024, 1, 29), Date.UTC(9999, 11, 31, 23, 59, 59)]) {
      expect(parseHttpDate(new Date(time).toUTCString())).toBe(time)
    }
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
  ])('is nothing else: %j', text => expect(parseHttpDate(text)).toBeUndefined())

  it('may be missing', () => expect(parseHttpDate(undefined)).toBeUndefined())
})
