import { DAY_MS, isMinutes, nextOpenTime } from '../../candles/intervals.js'
import type { Series, WindowRef } from '../../candles/series.js'
import { parseDate, windowSpan } from '../../candles/windows.js'

/** With fewer missing days the exchange's own answers are as fast. */
const FEWEST_DAYS = 15

/** The wanted days of a calendar month of a series. */
export interface ArchiveMonth {
  readonly series: Series
  /** `2024-01`. */
  readonly month: string
  /** ms UTC. */
  readonly endTime: number
  /** Windows of one day each, ascending. */
  readonly windows: readonly WindowRef[]
}

/**
 * The months that the archive is asked for. `windows`: of one series, ascending, without a file. The newest days are left out: they are
 * not final a day before `now`, ms UTC.
 */
export function archiveMonths(windows: readonly WindowRef[], now: number): ArchiveMonth[] {
  const days = windows.filter(window => isMinutes(window.interval) && windowSpan(window).endTime <= now - DAY_MS)
  if (days.length < FEWEST_DAYS) return []
  const months = new Map<string, WindowRef[]>()
  for (const window of days) {
    const month = window.startDate.slice(0, 7)
    months.set(month, [...(months.get(month) ?? []), window])
  }
  return [...months].map(([month, windows]) => {
    const endTime = nextOpenTime('1M', parseDate(`${month}-01`))
    return { series: windows[0], month, endTime, windows }
  })
}
