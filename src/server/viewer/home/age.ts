const DAY_MS = 86_400_000

const LENGTH_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS, M: 30 * DAY_MS }

/** The length of an interval such as `15m`, ms; of a month about that. */
function intervalMs(interval: string): number {
  return Number.parseInt(interval, 10) * LENGTH_MS[interval.slice(-1)]
}

/** How old the newest candle of a series is. */
export interface Age {
  /** Such as `3 h`; `now` when no newer candle can have closed. */
  readonly text: string
  readonly kind: 'fresh' | 'recent' | 'old'
}

/** The age at `now` of the newest candle, which opened at `lastOpenTime`; both ms UTC. */
export function describeAge(interval: string, lastOpenTime: number, now: number): Age {
  const length = intervalMs(interval)
  const ms = now - lastOpenTime - length
  if (ms < length) return { text: 'now', kind: 'fresh' }
  return {
    text: formatAge(ms),
    kind: ms < Math.max(2 * DAY_MS, 2 * length) ? 'fresh' : ms < 30 * DAY_MS ? 'recent' : 'old',
  }
}

function formatAge(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  if (days >= 730) return `${Math.floor(days / 365)} y`
  if (days >= 60) return `${Math.floor(days / 30)} mo`
  if (days >= 2) return `${days} d`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}
