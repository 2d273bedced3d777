import type { WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'
import type { WindowSource } from './sources/window-source.js'

/**
 * Until when the windows of a series, which ascend, surely have all its candles, ms UTC; -Infinity if the first one may lack some.
 * Nothing was traded between the last candle and that time. `until`: the same of the windows before them, if there are any.
 */
export function completeUntil(
  source: Pick<WindowSource, 'hasAllCandles'>,
  windows: readonly WindowRef[],
  until = Number.NEGATIVE_INFINITY,
): number {
  for (const window of windows) {
    const { startTime, endTime } = windowSpan(window)
    if ((until !== -Infinity && startTime !== until) || !source.hasAllCandles(window)) break
    until = endTime
  }
  return until
}
