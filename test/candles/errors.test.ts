import { describe, expect, expectTypeOf, it } from 'vitest'
import { isKlinesError, KlinesError } from '../../src/candles/errors.js'

describe('isKlinesError', () => {
  const thrown: unknown = new KlinesError('rate_limited', 'Wait.', {
    data: { status: 429, until: '2025-02-12T12:05:00Z' },
  })

  it('narrows the code and types its data', () => {
    if (!isKlinesError(thrown, 'rate_limited')) throw thrown
    // `npm run check` compares the types.
    expectTypeOf(thrown.code).toEqualTypeOf<'rate_limited'>()
    expectTypeOf(thrown.data.until).toEqualTypeOf<string | undefined>()
    expect(thrown.data).toEqual({ status: 429, until: '2025-02-12T12:05:00Z' })
  })

  it('is false for another code, and for an error that only looks like one', () => {
    expect(isKlinesError(thrown, 'incomplete')).toBe(false)
    expect(isKlinesError(thrown)).toBe(true)
    expect(isKlinesError({ ...new KlinesError('incomplete', '') }, 'incomplete')).toBe(false)
    expect(isKlinesError(undefined)).toBe(false)
  })
})
