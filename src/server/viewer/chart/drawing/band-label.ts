import { plural } from '../count.js'
import { type Interval, lengthMs } from '../data/interval.js'
import type { Band } from '../data/timeline.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a band is that has fewer places than missing candles; undefined where the time axis says so. */
export function bandLabel({ from, to, steps, isMissing }: Band, interval: Interval): string | undefined {
  if (steps <= to - from + 1) return undefined
  const length = steps * lengthMs(interval)
  const text =
    length < 2 * DAY_MS ? plural(Math.round(length / HOUR_MS), 'hour') : plural(Math.round(length / DAY_MS), 'day')
  return `${text} ${isMissing ? 'not in this mirror' : 'without candles'}`
}
