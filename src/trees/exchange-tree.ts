import { EXCHANGE_INTERVALS, MINUTE_MS } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import { exchangeStartDates, firstExchangeStartDate, windowSpan } from '../klines/windows.js'
import { STATIC_TREE } from './static-tree.js'
import type { TreeRules } from './tree-rules.js'
import { isLate, SECOND_ANSWER_MS, spansWindow, type WindowEnds, type WindowTimes } from './window-ends.js'

/** The exchange, shown as windows of a static tree: any symbol, all intervals, and no candle changes a day after its window's end. */
export const EXCHANGE_TREE: TreeRules = {
  // Versions that read only layout 1 took windows of 1m, 3m and 5m for stray files, and removed them.
  layout: 2,
  symbols: [],
  intervals: EXCHANGE_INTERVALS,
  listsMirrored: true,
  trustsFileTimes: false,
  rendersAnswers: true,
  refusesForATime: true,
  knowsFirstCandle: () => false,
  startDates: exchangeStartDates,
  mayHave: ({ interval, startDate }) => startDate >= firstExchangeStartDate(interval),
  isFilled: spansWindow,
  /** It has candles from its start to its end, or two answers agree that it has no more. Without times, its candles decide. */
  isFinal: (window, ends, times) => {
    if (times === undefined) return spansWindow(window, ends)
    return isLate(window, times.confirmed) && !needsSecondAnswer(window, ends, times)
  },
  needsSecondAnswer,
  // It has candles at once, but only those that closed 15 s ago are stored.
  settledTime: ({ confirmed }) => confirmed - MINUTE_MS,
  isOutdated: (window, rendered, now) => {
    const { endTime } = windowSpan(window)
    return STATIC_TREE.isOutdated(window, rendered, now) || (rendered.time < endTime && endTime <= now)
  },
}

/**
 * For some minutes the exchange may answer `[]`, half of the candles, or a first one that is too late. The second answer has to come
 * an hour after the first one.
 */
function needsSecondAnswer(window: WindowRef, ends: WindowEnds, { time, confirmed }: WindowTimes): boolean {
  return isLate(window, confirmed) && !spansWindow(window, ends) && confirmed - time < SECOND_ANSWER_MS
}
