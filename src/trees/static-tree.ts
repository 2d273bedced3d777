import { INTERVALS } from '../klines/intervals.js'
import { hasListingDate } from '../klines/resample/candle-grid.js'
import { SYMBOLS } from '../klines/symbols.js'
import { knownStartDates, windowSpan } from '../klines/windows.js'
import type { TreeRules } from './tree-rules.js'
import { isLate, LATE_MS, reachesEnd } from './window-ends.js'

/** A static klines service: files that are rendered once a day, of a few symbols and intervals. */
export const STATIC_TREE: TreeRules = {
  layout: 1,
  symbols: SYMBOLS,
  intervals: INTERVALS,
  listsMirrored: false,
  trustsFileTimes: false,
  rendersAnswers: false,
  refusesForATime: false,
  knowsFirstCandle: hasListingDate,
  startDates: interval => knownStartDates(interval),
  mayHave: () => true,
  isFilled: (window, { lastOpenTime }) => reachesEnd(window, lastOpenTime),
  /**
   * The last candle reaches the window's end; or a later window has candles and this one was rendered well after its own end. Without
   * the second condition a window that was downloaded half full would keep its gap forever. Independent of this machine's clock.
   */
  isFinal: (window, { lastOpenTime }, times, hasLater) =>
    reachesEnd(window, lastOpenTime) || (times !== undefined && isLate(window, times.time) && hasLater()),
  needsSecondAnswer: () => false,
  /** A service renders candles that it got before. */
  settledTime: ({ time }) => time - LATE_MS,
  /** A published tree has empty files for windows of the future. */
  isOutdated: (window, { isEmpty, time }, now) => {
    const { startTime } = windowSpan(window)
    return isEmpty && time < startTime && startTime <= now
  },
}
