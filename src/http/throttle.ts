import pLimit from 'p-limit'
import type { Clock } from './system-clock.js'

/** Successes in a row after which the limit grows by one request. */
const SUCCESSES_TO_GROW = 10

/**
 * Limits requests to one host: the number at once halves when the host is overloaded and grows back, and a pause applies to every
 * request.
 */
export class Throttle {
  private readonly limit: ReturnType<typeof pLimit>
  private pausedUntil = 0
  private successes = 0

  constructor(
    private readonly maxConcurrency: number,
    private readonly clock: Clock,
    /** Called before each start: it may pause, or throw what `run` then throws. */
    private readonly beforeStart: () => void = () => {},
  ) {
    this.limit = pLimit(maxConcurrency)
  }

  /** How many requests may run at once now. */
  get concurrency(): number {
    return this.limit.concurrency
  }

  /** Runs `task` as soon as the limits and the pause allow. Rejects with the signal's reason when it aborts first, or as `beforeStart` throws. */
  run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.limit(async () => {
      signal.throwIfAborted()
      // Another response may lengthen the pause meanwhile.
      for (;;) {
        this.beforeStart()
        const wait = this.pauseLeft
        if (wait <= 0) break
        await this.clock.sleep(wait, signal)
      }
      return await task()
    })
  }

  /** How long the pause lasts from now, ms; 0 without one. */
  get pauseLeft(): number {
    return Math.max(0, this.pausedUntil - this.clock.elapsed())
  }

  /** Delays every request for `ms` from now, unless a longer pause is active. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.elapsed() + ms)
  }

  /** Halves the limit: the host is overloaded. */
  slowDown(): void {
    this.successes = 0
    this.limit.concurrency = Math.max(1, Math.floor(this.limit.concurrency / 2))
  }

  /** Counts a successful request. */
  succeeded(): void {
    if (this.limit.concurrency === this.maxConcurrency || ++this.successes < SUCCESSES_TO_GROW) return
    this.successes = 0
    this.limit.concurrency++
  }
}
