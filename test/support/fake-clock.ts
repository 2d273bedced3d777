import type { Clock } from '../../src/klines/clock.js'

/** A clock that a sleep moves on at once; it remembers what was slept. Sleepers side by side share the time. */
export class FakeClock implements Clock {
  readonly sleeps: number[] = []

  constructor(private time = 0) {}

  now(): number {
    return this.time
  }

  elapsed(): number {
    return this.time
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(ms)
    const end = this.time + ms
    await new Promise(resolve => setImmediate(resolve))
    this.time = Math.max(this.time, end)
  }
}
