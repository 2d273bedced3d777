import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  cachedSetup,
  expectCachedWithWarning,
  expectErrorObject,
  expectFinalUnchanged,
  MISSING_WINDOW,
  OPEN_WINDOW,
} from '../../support/servers/upstream-checks.js'
import { FULL_WEEKS, weekPath } from '../../support/synthetic-tree.js'

describe('a service that sends Retry-After', () => {
  const { now } = Date
  /** This machine's clock. */
  let time = now()
  beforeEach(() => {
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => time)
    return () => spy.mockRestore()
  })

  /** Delay of a busy machine, s. */
  const SLACK = 15

  it.each<[string, number, () => string, number]>([
    ['429', 429, () => '30', 30],
    ['429 until a date', 429, () => new Date(time + 120_000).toUTCString(), 120],
  ])('with %s gets no request for that long, and clients get 503', async (_, status, retryAfter, seconds) => {
    const setup = await cachedSetup({ now: () => time })
    time = now()
    setup.service.always(MISSING_WINDOW, { status, headers: { 'retry-after': retryAfter() } })
    const first = await setup.request(MISSING_WINDOW)
    expectErrorObject(first, 503)
    expect(Number(first.headers['retry-after'])).toBeGreaterThanOrEqual(seconds - 1)
    expect(Number(first.headers['retry-after'])).toBeLessThanOrEqual(seconds + SLACK)
    expect(setup.service.log).toHaveLength(1)

    time += (seconds - 2) * 1000
    for (const path of [MISSING_WINDOW, weekPath('BTCUSDT', FULL_WEEKS[1])]) {
      const again = await setup.request(path)
      expectErrorObject(again, 503)
      expect(Number(again.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(2 + SLACK)
    }
    await expectCachedWithWarning(setup)
    await expectFinalUnchanged(setup)
    expect(setup.service.log).toHaveLength(1)

    setup.service.reset()
    time += SLACK * 1000
    expect((await setup.request(MISSING_WINDOW)).body.equals(setup.original(MISSING_WINDOW))).toBe(true)
    expect((await setup.request(OPEN_WINDOW)).headers.warning).toBeUndefined()
  })
})
