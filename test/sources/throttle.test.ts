import { describe, expect, it } from 'vitest'
import { Throttle } from '../../src/http/throttle.js'
import { deferred } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { FakeClock } from '../support/fake-clock.js'

const signal = new AbortController().signal

describe('a throttle', () => {
  it('halves its limit for each slowDown, down to 1', () => {
    const throttle = new Throttle(16, new FakeClock())
    const seen = Array.from({ length: 6 }, () => {
      throttle.slowDown()
      return throttle.concurrency
    })
    expect(seen).toEqual([8, 4, 2, 1, 1, 1])
  })

  it('grows by one for every ten successes in a row, up to its first limit', () => {
    const throttle = new Throttle(4, new FakeClock())
    throttle.slowDown()
    const seen = Array.from({ length: 40 }, () => {
      throttle.succeeded()
      return throttle.concurrency
    })
    expect(seen).toEqual([...Array(9).fill(2), ...Array(10).fill(3), ...Array(21).fill(4)])
  })

  it('restarts the count of successes after another slowDown', () => {
    const throttle = new Throttle(8, new FakeClock())
    throttle.slowDown()
    for (let i = 0; i < 9; i++) throttle.succeeded()
    throttle.slowDown()
    for (let i = 0; i < 9; i++) throttle.succeeded()
    expect(throttle.concurrency).toBe(2)
  })

  it('never runs more tasks at once than its limit', async () => {
    const throttle = new Throttle(3, new FakeClock())
    let [active, peak] = [0, 0]
    const task = async () => {
      peak = Math.max(peak, ++active)
      await new Promise(resolve => setImmediate(resolve))
      active--
    }
    await Promise.all(Array.from({ length: 30 }, () => throttle.run(signal, task)))
    expect(peak).toBe(3)
  })

  it('delays every task during a pause; a shorter pause does not shorten it', async () => {
    const clock = new FakeClock(1_000)
    const throttle = new Throttle(4, clock)
    throttle.pause(7_000)
    throttle.pause(2_000)
    const times = await Promise.all(Array.from({ length: 4 }, () => throttle.run(signal, async () => clock.now())))
    expect(times).toEqual([8_000, 8_000, 8_000, 8_000])
  })

  it('waits on when the pause is lengthened meanwhile', async () => {
    const clock = new FakeClock()
    const throttle = new Throttle(1, clock)
    throttle.pause(1_000)
    const ran = throttle.run(signal, async () => clock.now())
    throttle.pause(5_000)
    expect(await ran).toBe(5_000)
  })

  it('does not start a task whose signal aborted while it waited', async () => {
    const throttle = new Throttle(1, new FakeClock())
    const gate = deferred()
    const controller = new AbortController()
    const first = throttle.run(signal, () => gate.promise)
    let started = false
    const second = throttle.run(controller.signal, async () => {
      started = true
    })
    controller.abort(new Error('enough'))
    gate.resolve()
    await first
    expect(await catchError(second)).toMatchObject({ message: 'enough' })
    expect(started).toBe(false)
  })
})
