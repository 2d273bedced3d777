import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FetchError } from '../../src/sources/fetch-error.js'
import { isTransientStatus, parseRetryAfter, RETRY_POLICY, retryDelay } from '../../src/sources/retry.js'

const NOW = Date.UTC(2025, 1, 12, 12)

it('retryDelay doubles from half a second to 20 s, with full jitter', () => {
  const policy = { ...RETRY_POLICY, tries: 1_000 }
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 999 })),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, random) => {
        const delay = retryDelay(new FetchError('transient', 'x'), failures, random, policy) ?? Number.NaN
        const expected = random * (failures > 6 ? 20_000 : Math.min(20_000, 500 * 2 ** (failures - 1)))
        expect(delay).toBeCloseTo(expected, 6)
      },
    ),
  )
})

describe('isTransientStatus', () => {
  const isExpected = (status: number) =>
    [408, 425, 429].includes(status) || (status >= 500 && ![501, 505].includes(status))

  it('is true for 408, 425, 429 and all 5xx but 501 and 505', () => {
    const all = Array.from({ length: 500 }, (_, index) => index + 100)
    const statuses = all.filter(isTransientStatus)
    expect(statuses).toEqual(all.filter(isExpected))
  })
})

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['2', 2_000],
    [' 120 ', 120_000],
    ['86400', 86_400_000],
    ['Wed, 12 Feb 2025 12:00:30 GMT', 30_000],
    ['Wednesday, 12-Feb-25 12:00:30 GMT', 30_000],
    ['Wed, 12 Feb 2025 11:00:00 GMT', 0],
  ])('parses %j as %i ms', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected)
  })

  it.each([
    undefined,
    '',
    '-1',
    '1.5',
    'soon',
    '2 seconds',
    '0x10',
    '1e3',
    '99999999999',
    '2025-02-12',
    'Wed, nonsense GMT',
  ])('returns undefined for %j', header => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined()
  })
})
