import { DAY_MS, HOUR_MS, type Interval, MINUTE_MS, nextOpenTime } from '../../../klines/intervals.js'

/** How old the newest candle of a series is. */
interface Age {
  /** Such as `3 h old`; `now` when no newer candle can have closed. */
  readonly text: string
  readonly kind: 'fresh' | 'recent' | 'old'
}

/** The age at `now` of the newest candle, which opened at `lastOpenTime`; both ms UTC. */
export function describeAge(interval: Interval, lastOpenTime: number, now: number): Age {
  const end = nextOpenTime(interval, lastOpenTime)
  const nextEnd = nextOpenTime(interval, end)
  if (now < nextEnd) return { text: 'now', kind: 'fresh' }
  const ms = now - end
  return {
    text: `${formatAge(ms)} old`,
    kind: ms < Math.max(2 * DAY_MS, 2 * (nextEnd - end)) ? 'fresh' : ms < 30 * DAY_MS ? 'recent' : 'old',
  }
}

function formatAge(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  if (days >= 730) return `${Math.floor(days / 365)} y`
  if (days >= 60) return `${Math.floor(days / 30)} mo`
  if (days >= 2) return `${days} d`
  return ms < 2 * HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / HOUR_MS)} h`
}
