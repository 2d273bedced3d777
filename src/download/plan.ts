import type { Series, WindowRef } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { parseDate, windowSpan } from '../klines/windows.js'
import type { WindowSource } from './window-source.js'

/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan {
  readonly series: Series
  readonly windows: readonly WindowRef[]
  /** When the first window on the interval's list starts, ms UTC: there are no candles before. */
  readonly listedFrom: number | undefined
}

/** What is to be had. */
export interface Plan {
  readonly range: TimeRange
  readonly series: readonly SeriesPlan[]
}

/**
 * The windows of a series that may hold candles opening in the range: those on the list that overlap it and do not
 * start after `horizon` (ms UTC; the present, for the service: windows of the future are empty by rule).
 */
export function planWindows(
  series: Series,
  startDates: readonly string[],
  range: TimeRange,
  horizon: number,
): WindowRef[] {
  const { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY } = range
  return startDates
    .map(startDate => ({ ...series, startDate }))
    .filter(window => {
      const { startTime, endTime } = windowSpan(window)
      return endTime > fromTime && startTime < toTime && startTime <= horizon
    })
}

/** Asks the source for the lists of startDates and plans every series. */
export async function planSeries(source: WindowSource, series: readonly Series[], range: TimeRange): Promise<Plan> {
  const intervals = [...new Set(series.map(({ interval }) => interval))]
  const lists = new Map(
    await Promise.all(intervals.map(async interval => [interval, await source.startDates(interval)] as const)),
  )
  return {
    range,
    series: series.map(one => {
      const horizon = source.horizon(one, range.toTime)
      const dates = lists.get(one.interval) ?? []
      return {
        series: one,
        windows: planWindows(one, dates, range, horizon),
        listedFrom: dates.length === 0 ? undefined : parseDate(dates[0]),
      }
    }),
  }
}
