import { beforeEach, describe, expect, it, vi } from 'vitest'
import { RequestPause } from '../../../src/server/viewer/service.js'

const NOW = Date.UTC(2025, 0, 1)

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
    const over = Promise.all([pause.over, pause.over])
    await vi.advanceTimersByTimeAsync(2_900)
    expect(ticks).toEqual([3, 2, 1])
    await vi.advanceTimersByTimeAsync(400)
    await over
    expect(ticks).toEqual([3, 2, 1, 0])
    await pause.over
  })

  it('becomes longer, never shorter, while it is under way', async () => {
    for (const ms of [2_000, 4_000, 1_000]) pause.begin(ms)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(ticks).toEqual([2, 4, 3, 2, 1, 0])
  })

  it('ends when somebody says so', async () => {
    pause.begin(60_000)
    const { over } = pause
    pause.end()
    await vi.advanceTimersByTimeAsync(300)
    await over
    expect(ticks).toEqual([60, 0])
  })
})
