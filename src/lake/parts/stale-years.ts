import { describeSeries, type SeriesFingerprint } from '../../fingerprint/fingerprint.js'
import type { WindowRef } from '../../klines/series.js'
import { windowSpan } from '../../klines/windows.js'

/** Calendar years, UTC, whose candles may have changed. */
export type StaleYears = ReadonlySet<number> | 'all'

/** The years in which candles of a window can open. */
export function yearsOf(window: WindowRef): number[] {
  const { startTime, endTime } = windowSpan(window)
  const [first, last] = [startTime, endTime - 1].map(time => new Date(time).getUTCFullYear())
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/**
 * A fingerprint whose stale years were read again: `found` has their candles. `ends`: open times of the first and the last candle of all.
 */
export function updateYears(
  old: SeriesFingerprint | undefined,
  stale: StaleYears,
  found: SeriesFingerprint | undefined,
  ends: Pick<SeriesFingerprint, 'firstOpenTime' | 'lastOpenTime'>,
): SeriesFingerprint | undefined {
  if (old === undefined || stale === 'all') return found
  const kept = old.years.filter(({ year }) => !stale.has(year))
  const years = [...kept, ...(found?.years ?? [])].sort((a, b) => a.year - b.year)
  return years.length === 0 ? undefined : describeSeries(old, years, ends)
}
