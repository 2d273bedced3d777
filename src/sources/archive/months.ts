import { DAY_MS, isMinutes, nextOpenTime } from '../../candles/intervals.js'
import type { Series, WindowRef } from '../../candles/series.js'
import { parseDate, type WindowSpan, windowSpan } from '../../candles/windows.js'

/** With fewer missing days the exchange's own answers are as fast. */
const FEWEST_DAYS = 15

/** The wanted days of a calendar month of a series. */
export interface ArchiveMonth {
  readonly series: Series
  /** `2024-01`. */
  readonly month: string
  /** Windows of one day each, ascending. */
  readonly windows: readonly WindowRef[]
}

/** The end of the last day that is final at `now`, ms UTC. */
export function finalTime(now: number): number {
  const time = now - DAY_MS
  return time - (time % DAY_MS)
}

/**
 * The months that the archive is asked for. `windows`: of one series, ascending, that are not cached; those of the last day are not final
 * at `now`, ms UTC.
 */
export function archiveMonths(windows: readonly WindowRef[], now: number): ArchiveMonth[] {
  const days = windows.filter(window => isMinutes(window.interval) && windowSpan(window).endTime <= finalTime(now))
  if (days.length < FEWEST_DAYS) return []
  const months = new Map<string, WindowRef[]>()
  for (const window of days) {
    const month = window.startDate.slice(0, 7)
    months.set(month, [...(months.get(month) ?? []), window])
  }
  return [...months].map(([month, windows]) => ({ series: windows[0], month, windows }))
}

export function monthSpan({ month }: ArchiveMonth): WindowSpan {
  const startTime = parseDate(`${month}-01`)
  return { startTime, endTime: nextOpenTime('1M', startTime) }
}
