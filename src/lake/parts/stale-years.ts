import { describeSeries, type SeriesFingerprint, type YearDigest } from '../../fingerprint/fingerprint.js'
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

/** A fingerprint whose stale years were read again: `found` has their candles. Undefined for a series without candles. */
export function updateYears(
  old: SeriesFingerprint | undefined,
  stale: StaleYears,
  found: SeriesFingerprint | undefined,
): SeriesFingerprint | undefined {
  if (old === undefined || stale === 'all') return found
  const kept = old.years.filter(({ year }) => !stale.has(year))
  const years = [...kept, ...(found?.years ?? [])].sort((a, b) => a.year - b.year)
  if (years.length === 0) return undefined
  // The first and the last candle are in the first and the last year.
  const sourceOf = (year: YearDigest | undefined) => (found && year && found.years.includes(year) ? found : old)
  const [{ firstOpenTime }, { lastOpenTime }] = [sourceOf(years[0]), sourceOf(years.at(-1))]
  return describeSeries(old, years, { firstOpenTime, lastOpenTime })
}
