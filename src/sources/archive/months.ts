import { DAY_MS, isMinutes } from '../../candles/intervals.js'
import type { Series, WindowRef } from '../../candles/series.js'
import { windowSpan } from '../../candles/windows.js'

/** With fewer missing days the exchange's own answers are as fast. */
const FEWEST_DAYS = 15
/** Monthly files come in the first half of the next month. */
const MAY_LACK_ZIP_MS = 45 * DAY_MS

/** The wanted days of a calendar month of a series. */
export interface ArchiveMonth {
  readonly series: Series
  /** `2024-01`. */
  readonly month: string
  /** Windows of one day each, ascending. */
  readonly windows: readonly WindowRef[]
}

/**
 * The months that the archive is asked for. `windows`: of one series, ascending, that are not cached; those of the last day are not final
 * at `now`, ms UTC.
 */
export function archiveMonths(windows: readonly WindowRef[], now: number): ArchiveMonth[] {
  const days = windows.filter(window => isMinutes(window.interval) && windowSpan(window).endTime <= now - DAY_MS)
  if (days.length < FEWEST_DAYS) return []
  const months = new Map<string, WindowRef[]>()
  for (const window of days) {
    const month = window.startDate.slice(0, 7)
    months.set(month, [...(months.get(month) ?? []), window])
  }
  return [...months].map(([month, windows]) => ({ series: windows[0], month, windows }))
}

/** Start and end of a month, ms UTC. */
export function monthSpan({ month }: ArchiveMonth): { readonly startTime: number; readonly endTime: number } {
  const start = new Date(`${month}-01`)
  return { startTime: start.getTime(), endTime: start.setUTCMonth(start.getUTCMonth() + 1) }
}

/** How the archive has a month at `now`, ms UTC: as one zip, as one for each day, or as days where the one is not there yet. */
export function zipsOf(month: ArchiveMonth, now: number): 'month' | 'days' | 'month or days' {
  const { endTime } = monthSpan(month)
  if (endTime > now) return 'days'
  return endTime > now - MAY_LACK_ZIP_MS ? 'month or days' : 'month'
}

/** The name of a zip and of its file, without their extensions. `date`: `2024-01` or `2024-01-31`. */
export function zipName({ symbol, interval }: Series, date: string): string {
  return `${symbol}-${interval}-${date}`
}

export function zipPath(series: Series, date: string): string {
  const symbol = encodeURIComponent(series.symbol)
  const folder = `data/spot/${date.length === 7 ? 'monthly' : 'daily'}/klines/${symbol}/${series.interval}`
  return `${folder}/${encodeURIComponent(zipName(series, date))}.zip`
}
