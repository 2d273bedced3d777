import { hasListingGrid, type TargetInterval } from '../klines/resample/target-interval.js'
import { type Series, type WindowRef, windowOf } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { parseDate, windowSpan } from '../klines/windows.js'
import type { WindowSource } from './sources/window-source.js'

/** A series, and the open times of the candles that are needed. */
export interface SeriesRange {
  readonly series: Series
  readonly range: TimeRange
  /** The length of the candles that are made of it. Default: its own. */
  readonly resampleTo?: TargetInterval | undefined
}

/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan extends SeriesRange {
  readonly windows: readonly WindowRef[]
  /** Start of the first window on the interval's list, ms UTC: there are no candles before. */
  readonly listedFrom: number | undefined
}

/** What to download. */
export interface Plan {
  /** The requested range; a series that is resampled may need more. */
  readonly range: RequestedRange
  readonly series: readonly SeriesPlan[]
}

/**
 * The windows of a series that may hold candles of the range: those on the list that overlap it and do not start after
 * `neededUntil` (ms UTC; the present, for a service, because windows of the future are empty).
 */
export function planWindows(
  series: Series,
  startDates: readonly string[],
  { fromTime, toTime }: TimeRange,
  neededUntil: number,
): WindowRef[] {
  return startDates
    .map(startDate => windowOf(series, startDate))
    .filter(window => {
      const { startTime, endTime } = windowSpan(window)
      return endTime > fromTime && startTime < toTime && startTime <= neededUntil
    })
}

/** Reads the lists of start dates and plans every series. */
export async function planSeries(source: WindowSource, ranges: readonly SeriesRange[]): Promise<SeriesPlan[]> {
  const intervals = [...new Set(ranges.map(({ series }) => series.interval))]
  const lists = new Map(
    await Promise.all(intervals.map(async interval => [interval, await source.contents.startDates(interval)] as const)),
  )
  return ranges.map(({ series, range, resampleTo }) => {
    const startDates = [
      ...new Set([...(lists.get(series.interval) ?? []), ...source.contents.cachedStartDates(series)]),
    ].sort()
    const windows = planWindows(series, startDates, range, source.contents.neededUntil(series, range.toTime))
    return {
      series,
      range,
      resampleTo,
      windows,
      listedFrom: startDates.length === 0 ? undefined : parseDate(startDates[0]),
    }
  })
}

/** A target on the symbol's own 3d grid, when that is known. */
export async function withAnchor(
  source: WindowSource,
  { symbol }: Series,
  target: TargetInterval,
): Promise<TargetInterval> {
  return {
    ...target,
    anchor: target.anchor ?? (hasListingGrid(target) ? await source.contents.threeDayAnchor(symbol) : undefined),
  }
}
