import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../klines/clock.js'

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
