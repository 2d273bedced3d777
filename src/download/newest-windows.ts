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
    if (result.status === 'failed') throw incomplete([result], 1, source)
    const batch = result.batch.slice(range.fromTime, range.toTime)
    return batch.length === 0 ? undefined : batch.openTime(batch.length - 1)
  }
  /** Indexes of windows that are empty, ascending; there are none before the first window and after the last one. */
  const empty = [-1, windows.length]
  const tried = new Map<number, number>()
  const isEmpty = async (index: number): Promise<boolean> => {
    const time = await lastOpenTime(windows[index])
    if (time !== undefined) tried.set(index, time)
    else
      empty.splice(
        empty.findIndex(other => other > index),
        0,
        index,
      )
    return time === undefined
  }
  let found = windows.length - 1
  for (let step = 1; found >= 0 && (await isEmpty(found)); step *= 2) found -= step
  // A few windows with candles may lie between two that were tried: in the middle of the widest gap, if anywhere.
  while (found < 0 || !tried.has(found)) {
    const [before, after] = widestGap(empty)
    if (after - before <= 1) return plan
    found = Math.floor((before + after) / 2)
    await isEmpty(found)
  }
  let next = empty.find(index => index > found) ?? windows.length
  while (next - found > 1) {
    const middle = Math.floor((found + next) / 2)
    if (await isEmpty(middle)) next = middle
    else found = middle
  }
  const newest = tried.get(found) as number
  const fromTime = Math.max(range.fromTime, firstTime(newest))
  const needed = windows.slice(0, found + 1).filter(window => windowSpan(window).endTime > fromTime)
  return { ...plan, range: { ...range, fromTime }, windows: needed }
}

/** The neighbours with the widest distance, of ascending indexes. */
function widestGap(indexes: readonly number[]): readonly [number, number] {
  let widest: readonly [number, number] = [indexes[0], indexes[1]]
  for (let at = 2; at < indexes.length; at++) {
    if (indexes[at] - indexes[at - 1] > widest[1] - widest[0]) widest = [indexes[at - 1], indexes[at]]
  }
  return widest
}
