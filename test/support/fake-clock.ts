import type { Clock } from '../../src/sources/retry.js'

/** A clock that a sleep advances at once; it records the sleeps. Concurrent sleepers share the time. */
export class FakeClock implements Clock {
  readonly sleeps: number[] = []
  private offset = 0

  constructor(private time = 0) {}

  now(): number {
    return this.time + this.offset
  }

  /** A machine that slept, or a clock that was set. */
  jump(ms: number): void {
    this.offset += ms
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
