import { describe, expect, it } from 'vitest'
import { limitPolicy, QUICK_POLICY, RETRY_POLICY, type RequestLimits } from '../../src/sources/retry.js'
import { thrownBy } from '../support/thrown-by.js'

describe('the limits of a user', () => {
  it('that are not set mean 6 tries of 30 s, and 2 of 5 s for lists that are only shown', () => {
    expect(limitPolicy(RETRY_POLICY, {})).toMatchObject({ tries: 6, invalidTries: 3, attemptMs: 30_000 })
    expect(limitPolicy(QUICK_POLICY, {})).toMatchObject({ tries: 2, invalidTries: 1, attemptMs: 5_000 })
  })

  it.each<[string, RequestLimits, object]>([
    [
      'no retry is one try, also of an invalid response',
      { retries: 0 },
      { tries: 1, invalidTries: 1, attemptMs: 30_000 },
    ],
    ['one retry', { retries: 1 }, { tries: 2, invalidTries: 2 }],
    ['more retries do not repeat invalid responses more often', { retries: 9 }, { tries: 10, invalidTries: 3 }],
    ['a fraction of a second', { timeout: 0.25 }, { tries: 6, attemptMs: 250 }],
  ])('%s', (_, limits, expected) => {
    expect(limitPolicy(RETRY_POLICY, limits)).toMatchObject(expected)
  })

  it('win over a policy for a user who waits, and leave the rest of it', () => {
    const policy = { ...QUICK_POLICY, maxRetryAfterMs: 0 }
    expect(limitPolicy(policy, { retries: 3, timeout: 20 })).toEqual({
      ...policy,
      tries: 4,
      attemptMs: 20_000,
    })
  })
})

it.each<[RequestLimits, string]>([
  [{ retries: -1 }, '--retries is -1. Expected a whole number from 0 to 100.'],
  [{ retries: 101 }, '--retries is 101. Expected a whole number from 0 to 100.'],
  [{ timeout: 0 }, '--timeout is 0. Expected seconds: a number above 0, at most 3600.'],
  [{ timeout: 3_601 }, '--timeout is 3601. Expected seconds: a number above 0, at most 3600.'],
])('%j is refused', (limits, message) => {
  expect(thrownBy(() => limitPolicy(RETRY_POLICY, limits))).toMatchObject({ code: 'bad_option', message })
})
