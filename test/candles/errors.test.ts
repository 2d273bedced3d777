import { describe, expect, expectTypeOf, it } from 'vitest'
import { isKlinesError, KlinesError } from '../../src/candles/errors.js'

// `npm run check` compares the types.
describe('isKlinesError', () => {
  const thrown: unknown = new KlinesError('rate_limited', 'Wait.', {
    data: { status: 429, until: '2025-02-12T12:05:00Z' },
  })

  it('narrows the code and types its data', () => {
    if (!isKlinesError(thrown, 'rate_limited')) throw thrown
    expectTypeOf(thrown.code).toEqualTypeOf<'rate_limited'>()
    expectTypeOf(thrown.data.until).toEqualTypeOf<string | undefined>()
    // @ts-expect-error: an error of that code has no failures
    expect(thrown.data.failures).toBeUndefined()
    expect(thrown.data).toEqual({ status: 429, until: '2025-02-12T12:05:00Z' })
  })

  it('is false for another code, and for an error that only looks like one', () => {
    expect(isKlinesError(thrown, 'incomplete')).toBe(false)
    expect(isKlinesError(thrown)).toBe(true)
    expect(isKlinesError({ ...new KlinesError('incomplete', '') }, 'incomplete')).toBe(false)
    expect(isKlinesError(undefined)).toBe(false)
  })
})

describe('new KlinesError', () => {
  it('takes only data of its code', () => {
    const failures = [{ symbol: 'BTCUSDT', interval: '1h', startDate: '2024-01-01', reason: 'missing' }]
    const error = new KlinesError('incomplete', 'One is missing.', { data: { failures } })
    expectTypeOf(error).toEqualTypeOf<KlinesError<'incomplete'>>()
    expectTypeOf(error).toExtend<KlinesError>()
    expect(error.data.failures).toEqual(failures)
    // @ts-expect-error: until is a text
    expect(new KlinesError('rate_limited', '', { data: { until: 0 } }).data).toEqual({ until: 0 })
    // @ts-expect-error: failures are of another code
    expect(new KlinesError('rate_limited', '', { data: { failures } }).data).toEqual({ failures })
  })
})
