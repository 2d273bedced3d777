import { windowSpan } from '../candles/windows.js'
import { CandleGrid } from '../rows/candle-grid.js'
import { parseTargetInterval, slotAfter } from '../rows/target-interval.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { incomplete } from './errors.js'
import { readWindow } from './read.js'
import { refresh } from './refresh.js'
import type { Run } from './run.js'
import type { SeriesPlan } from './series-plan.js'

/**
 * A series of a plan with the windows and the range of its last `count` candles: it takes the last windows that can hold so many, and twice
 * as many again while they hold fewer, as after a symbol was delisted. Throws `incomplete` for a window that cannot be had.
 */
export async function cutToTail(run: Run, plan: SeriesPlan, count: number, forExport = true): Promise<SeriesPlan> {
  const { source } = run
  for (let taken = firstWindows(plan, count, run.now()), done = 0; ; taken *= 2) {
    const windows = plan.windows.slice(-taken)
    const added = windows.slice(0, windows.length - done)
    if (source) {
      for await (const result of refresh({ ...run, source }, [{ ...plan, windows: added }]))
        if (result.status === 'failed') throw incomplete([result], added.length, { offline: false, forExport })
    }
    const fromTime = findStart(run, { ...plan, windows }, count, forExport)
    if (fromTime !== undefined) return { ...plan, range: { ...plan.range, fromTime }, windows }
    if (windows.length === plan.windows.length) return plan
    done = windows.length
  }
}

/** How many windows at the end of a plan can hold `count` candles and one more before them. */
function firstWindows({ series, resampleTo, range, windows }: SeriesPlan, count: number, now: number): number {
  const fromTime = slotAfter(
    resampleTo ?? parseTargetInterval(series.interval),
    Math.min(range.toTime, now),
    -(count + 1),
  )
  return Math.max(1, windows.filter(window => windowSpan(window).endTime > fromTime).length)
}

/** When the candle opens from which on a series has `count` of them, and one more before it, ms UTC; undefined when it has fewer. */
function findStart(
  { mirror, signal }: Run,
  { range, windows, resampleTo, series }: SeriesPlan,
  count: number,
  forExport: boolean,
): number | undefined {
  const grid = resampleTo && new CandleGrid(resampleTo, series.symbol)
  const kernel = new Kernel()
  // The last longer candle may be left out as incomplete.
  let left = resampleTo ? count + 1 : count
  let fromTime = Number.POSITIVE_INFINITY
  for (const window of windows.toReversed()) {
    signal.throwIfAborted()
    const read = readWindow(mirror, window, kernel)
    if (read.status === 'failed') throw incomplete([read], windows.length, { offline: true, forExport })
    const batch = read.batch.slice(range.fromTime, range.toTime)
    for (let row = batch.length - 1; row >= 0; row--) {
      const time = batch.openTime(row)
      // An earlier part of the same longer candle.
      if (time >= fromTime) continue
      if (left === 0) return fromTime
      fromTime = grid?.start(time) ?? time
      left--
    }
  }
  return undefined
}
