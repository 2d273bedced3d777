import { type Interval, nextOpenTime } from '../intervals.js'
import { type WindowSpan, windowSpan } from '../windows.js'

/** The windows of a series; startDates ascending. */
interface SeriesWindows {
  readonly interval: Interval
  readonly startDates: readonly string[]
}

/**
 * The ends of the slices of time in which the series of one symbol are verified, ascending, ms UTC; the last one is Infinity. A
 * slice has at most `candles` candles of a series.
 */
export function sliceEnds(all: readonly SeriesWindows[], candles: number): number[] {
  const spans = all.flatMap(findSpan)
  const startTime = Math.min(...spans.map(span => span.startTime))
  const endTime = Math.max(...spans.map(span => span.endTime))
  const length = candles * Math.min(...all.map(({ interval }) => nextOpenTime(interval, 0)))
  const ends: number[] = []
  for (let end = startTime + length; end < endTime; end += length) ends.push(end)
  return [...ends, Infinity]
}

/** The time from the start of the first window to the end of the last one; nothing without windows. */
function findSpan({ interval, startDates }: SeriesWindows): WindowSpan[] {
  const [first, last] = [startDates[0], startDates.at(-1)]
  if (last === undefined) return []
  const { startTime } = windowSpan({ interval, startDate: first })
  return [{ startTime, endTime: windowSpan({ interval, startDate: last }).endTime }]
}
