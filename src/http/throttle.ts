import pLimit from 'p-limit'
import type { Clock } from '../klines/clock.js'

/** Successes in a row after which one more request at a time is allowed again. */
const SUCCESSES_TO_GROW = 10

/**
 * How much is asked of one host at once: a limit that halves when the host says it is too much and grows back, and a
 * pause that holds for every request.
 */
export class Throttle {
  private readonly limit: ReturnType<typeof pLimit>
  private pausedUntil = 0
  private successes = 0

  constructor(
    private readonly most: number,
    private readonly clock: Clock,
  ) {
    this.limit = pLimit(most)
  }

  /** Requests allowed at once now. */
  get concurrency(): number {
    return this.limit.concurrency
  }

  /** Runs `task` when its turn comes and no pause holds. Rejects with the signal's reason when that aborts first. */
  run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.limit(async () => {
      signal.throwIfAborted()
      // Another answer may lengthen the pause while this one is waited for.
      for (let wait = this.pauseLeft(); wait > 0; wait = this.pauseLeft()) {
        await this.clock.sleep(wait, signal)
      }
      return await task()
    })
  }

  private pauseLeft(): number {
    return this.pausedUntil - this.clock.elapsed()
  }

  /** Holds every request for `ms` from now, if no longer pause holds already. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.elapsed() + ms)
  }

  /** The host says it is too much: half as many at once. */
  slowDown(): void {
    this.successes = 0
    this.limit.concurrency = Math.max(1, Math.floor(this.limit.concurrency / 2))
  }

  /** The host answered as it should. */
  succeeded(): void {
    if (this.limit.concurrency === this.most || ++this.successes < SUCCESSES_TO_GROW) return
    this.successes = 0
    this.limit.concurrency++
  }
}
