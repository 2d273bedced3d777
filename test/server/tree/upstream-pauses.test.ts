import { describe, expect, it } from 'vitest'
import {
  cachedSetup,
  expectCachedWithWarning,
  expectErrorObject,
  expectFinalUnchanged,
  MISSING_WINDOW,
  OPEN_WINDOW,
} from '../../support/servers/upstream-checks.js'
import { FULL_WEEKS, weekPath } from '../../support/synthetic-tree.js'

describe('a service that asks to be left alone', () => {
  /** What the server's clock says; the service's wish is counted from the real one. */
  let time = Date.now()
  /** How late a busy machine may be, s. */
  const SLACK = 15

  it.each<[string, number, () => string, number]>([
    ['429', 429, () => '30', 30],
    ['503', 503, () => '45', 45],
    ['429 until a date', 429, () => new Date(time + 120_000).toUTCString(), 120],
    ['503 for an hour', 503, () => '3600', 3600],
  ])('with %s is left alone that long, and clients are told', async (_, status, retryAfter, seconds) => {
    const all = await cachedSetup({ now: () => time })
    time = Date.now()
    all.service.always(MISSING_WINDOW, { status, headers: { 'retry-after': retryAfter() } })
    const refused = await all.request(MISSING_WINDOW)
    expectErrorObject(refused, 503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(seconds - 1)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(seconds + SLACK)
    expect(all.service.log).toHaveLength(1)

    time += (seconds - 2) * 1000
    for (const path of [MISSING_WINDOW, weekPath('BTCUSDT', FULL_WEEKS[1])]) {
      const again = await all.request(path)
      expectErrorObject(again, 503)
      expect(Number(again.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(2 + SLACK)
    }
    await expectCachedWithWarning(all)
    await expectFinalUnchanged(all)
    expect(all.service.log).toHaveLength(1)

    all.service.reset()
    time += SLACK * 1000
    expect((await all.request(MISSING_WINDOW)).body.equals(all.original(MISSING_WINDOW))).toBe(true)
    expect((await all.request(OPEN_WINDOW)).headers.warning).toBeUndefined()
  })

  it('is not asked earlier by the fraction of a second', async () => {
    // Several, as it depends on when in a second it answers.
    for (let round = 0; round < 4; round++) {
      const { request, service } = await cachedSetup({ now: () => time })
      time = Date.now()
      service.always(MISSING_WINDOW, { status: 503, headers: { 'retry-after': '2' } })
      expectErrorObject(await request(MISSING_WINDOW), 503)
      time += 1_990
      expectErrorObject(await request(MISSING_WINDOW), 503)
      expect(service.log).toHaveLength(1)
    }
  })
})
