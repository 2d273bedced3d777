import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'
import { incomplete } from './errors.js'
import type { SeriesPlan } from './plan.js'
import type { WindowSource } from './sources/window-source.js'

/**
 * Reduces a plan to the windows of the newest candles. A list of windows may go on long after the last candle, so the last
 * window with candles is found in steps that double, back from the newest one, and then by halves: some 10 windows of 200.
 * `firstTime` returns the open time of the first candle that is needed, ms UTC, for that of the newest one. Throws `incomplete`
 * for a window that could not be downloaded or read.
 */
export async function planNewest(
  source: WindowSource,
  plan: SeriesPlan,
  firstTime: (newest: number) => number,
): Promise<SeriesPlan> {
  const { windows, range } = plan
  /** Open time of the last candle of a window in the range, ms UTC. */
  const lastOpenTime = async (window: WindowRef): Promise<number | undefined> => {
    const result = await source.window(window)
    if (result.status === 'failed') throw incomplete([result], windows.length, source)
    const batch = result.batch.slice(range.fromTime, range.toTime)
    return batch.length === 0 ? undefined : batch.openTime(batch.length - 1)
  }
  let empty = windows.length
  let found = windows.length - 1
  let newest: number | undefined
  for (let step = 1; found >= 0; step *= 2) {
    newest = await lastOpenTime(windows[found])
    if (newest !== undefined) break
    empty = found
    found -= step
  }
  // A few windows with candles may lie between two that were tried.
  if (newest === undefined) return plan
  while (empty - found > 1) {
    const middle = Math.floor((found + empty) / 2)
    const time = await lastOpenTime(windows[middle])
    if (time === undefined) empty = middle
    else [found, newest] = [middle, time]
  }
  const fromTime = Math.max(range.fromTime, firstTime(newest))
  const needed = windows.slice(0, found + 1).filter(window => windowSpan(window).endTime > fromTime)
  return { ...plan, range: { ...range, fromTime }, windows: needed }
}
