import { describe, expect, it } from 'vitest'
import { ProgressMeter } from '../../../src/cli/terminal/progress.js'

const QUIET = { requests: 0, bytes: 0, retrying: 0, failure: undefined, pauseMs: 0, pauseReason: undefined }

/** A meter whose clock the test sets. */
function newMeter() {
  const clock = { ms: 0 }
  const at = (ms: number) => {
    clock.ms = ms
  }
  return { meter: new ProgressMeter(() => clock.ms), at }
}

describe('a progress meter', () => {
  it('estimates the end from the windows, without the time that the lists took', () => {
    const { meter, at } = newMeter()
    at(60_000)
    meter.advance(0, 100, '')
    at(64_000)
    meter.advance(20, 100, 'BTCUSDT 1h')
    meter.setNetwork({ ...QUIET, bytes: 8_000, requests: 21 })
    const expected = { done: 20, total: 100, leftMs: 16_000, requests: 21 }
    expect(meter.read()).toMatchObject(expected)
  })

  it('estimates the end from the limits of the host when these take more than a minute', () => {
    const { meter, at } = newMeter()
    // 1,000 windows of 1m: 4,000 of weight, of which 3,000 may be used in a minute.
    meter.advance(0, 1_000, '', 80_000)
    expect(meter.read().leftMs).toBe(80_000)
    // Much faster than the limit allows, up to the pause.
    at(10_000)
    meter.advance(200, 1_000, 'BTCUSDT 1m')
    expect(meter.read().leftMs).toBe(70_000)
    // Nothing arrives for ten seconds and more.
    at(25_000)
    expect(meter.read().leftMs).toBe(100_000)
    // Less than a minute's share is sent without a pause.
    at(30_000)
    meter.advance(900, 1_000, 'BTCUSDT 1m')
    expect(meter.read().leftMs).toBeLessThan(8_000)
  })

  it.each([
    ['the rate', 18_000, 13_000],
    ['the limits', 80_000, 73_000],
  ])('does not estimate an end by %s that is before the end of a pause', (_, limitMs, pauseMs) => {
    const { meter, at } = newMeter()
    meter.advance(0, 1_000, '', limitMs)
    at(10_000)
    meter.advance(900, 1_000, 'BTCUSDT 1m')
    const estimate = meter.read().leftMs
    expect(estimate).toBeLessThan(pauseMs)
    meter.setNetwork({ ...QUIET, pauseMs, pauseReason: 'at the limit' })
    expect(meter.read()).toMatchObject({ leftMs: pauseMs, pauseMs })
    at(11_000)
    expect(meter.read()).toMatchObject({ leftMs: pauseMs - 1_000, pauseMs: pauseMs - 1_000 })
  })
})
