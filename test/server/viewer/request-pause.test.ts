import { beforeEach, describe, expect, it, vi } from 'vitest'
import { formatWait } from '../../../src/server/viewer/messages.js'
import { findPause, RequestPause } from '../../../src/server/viewer/service.js'

const NOW = Date.UTC(2025, 0, 1)

it.each<[number, string | null, number | undefined]>([
  [429, '30', 30_000],
  [429, 'Wed, 01 Jan 2025 00:02:00 GMT', 120_000],
  [429, 'Wed, 01 Jan 2020 00:00:00 GMT', 1_000],
  [429, 'soon', 5_000],
  [503, '45', 45_000],
  [503, null, undefined],
  [404, null, undefined],
])('status %i with Retry-After %j is a pause of %j ms', (status, retryAfter, ms) => {
  expect(findPause(status, retryAfter, NOW)).toBe(ms)
})

it.each([
  [0, '0 s'],
  [120, '120 s'],
  [7_201, '3 h'],
])('%i s are written as %s', (seconds, text) => {
  expect(formatWait(seconds)).toBe(text)
})

describe('a pause', () => {
  let ticks: number[]
  let pause: RequestPause
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
    ;[ticks, pause] = [[], new RequestPause()]
    pause.onTick = seconds => {
      if (ticks.at(-1) !== seconds) ticks.push(seconds)
    }
    return () => void vi.useRealTimers()
  })

  it('counts down, and all who wait go on at its end', async () => {
    pause.begin(3_000)
    const over = Promise.all([pause.over(), pause.over(new AbortController().signal)])
    await vi.advanceTimersByTimeAsync(2_900)
    expect(ticks).toEqual([3, 2, 1])
    await vi.advanceTimersByTimeAsync(400)
    await over
    expect(ticks).toEqual([3, 2, 1, 0])
    await pause.over()
  })

  it('becomes longer, never shorter, while it is under way', async () => {
    for (const ms of [2_000, 4_000, 1_000]) pause.begin(ms)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(ticks).toEqual([2, 4, 3, 2, 1, 0])
  })

  it('ends when somebody says so', async () => {
    pause.begin(60_000)
    const over = pause.over()
    pause.end()
    await vi.advanceTimersByTimeAsync(300)
    await over
    expect(ticks).toEqual([60, 0])
  })
})
