import { monthIndex, monthStart } from '../klines/intervals.js'
import type { TargetInterval } from '../klines/resample/target-interval.js'

/** The number of slots from one candle to a later one: at least 1, also where a candle off the grid is closer. */
export function slotsBetween({ length }: TargetInterval, openTime: number, laterOpenTime: number): number {
  if ('ms' in length) return Math.max(1, Math.floor((laterOpenTime - openTime) / length.ms))
  return Math.max(1, Math.floor((monthIndex(laterOpenTime) - monthIndex(openTime)) / length.months))
}

/** The open time of the slot that is `steps` slots after the one at `openTime`, or before it, ms UTC. */
export function slotAfter({ length }: TargetInterval, openTime: number, steps: number): number {
  return 'ms' in length ? openTime + steps * length.ms : monthStart(monthIndex(openTime) + steps * length.months)
}
