import { setTimeout as sleep } from 'node:timers/promises'

/** Time as a parameter, so that tests can run at any date and without waiting. */
export interface Clock {
  /** ms UTC since the epoch. */
  now(): number
  /** ms since an arbitrary moment, to measure durations: never goes back, unlike `now`. */
  elapsed(): number
  /** Resolves after `ms`; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted()
    try {
      await sleep(ms, undefined, { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}
