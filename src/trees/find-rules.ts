import { isExchange, SAMPLE } from '../http/base-url.js'
import { DAY_MS, EXCHANGE_INTERVALS, INTERVALS, MINUTE_MS } from '../klines/intervals.js'
import { hasListingDate } from '../klines/resample/candle-grid.js'
import { SYMBOLS } from '../klines/symbols.js'
import { exchangeStartDates, firstExchangeStartDate, knownStartDates, windowSpan } from '../klines/windows.js'
import type { TreeRules } from './tree-rules.js'
import { isLate, LATE_MS, mayHaveGrown, reachesEnd, spansWindow } from './window-ends.js'

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
  /** A service renders candles that it got before. */
  settledTime: ({ time }) => time - LATE_MS,
  // It is refreshed once a day.
  mayLag: (_candles, ms) => ms <= 2 * DAY_MS,
  /** A published tree has empty files for windows of the future. */
  isOutdated: (window, { isEmpty, time }, now) => {
    const { startTime } = windowSpan(window)
    return isEmpty && time < startTime && startTime <= now
  },
}

/** The exchange, shown as windows of a static tree: any symbol, all intervals, and no candle changes a day after its window's end. */
const EXCHANGE_TREE: TreeRules = {
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
  /** Without times, its candles decide. */
  isFinal: (window, ends, times) => (times === undefined ? spansWindow(window, ends) : isLate(window, times.confirmed)),
  // It has candles at once, but only those that closed 15 s ago are stored.
  settledTime: ({ confirmed }) => confirmed - MINUTE_MS,
  mayLag: candles => candles <= 2,
  isOutdated: mayHaveGrown,
}

/** A tree whose files are what they are: the sample gets no candle any more, and of a bare folder nothing else is known. */
const FIXED_TREE: TreeRules = { ...STATIC_TREE, trustsFileTimes: true }

/** The rules of the tree at a base address, as `toSourceName` writes it; undefined for a bare folder. */
export function findRules(baseUrl: string | undefined): TreeRules {
  if (isExchange(baseUrl)) return EXCHANGE_TREE
  return baseUrl === undefined || baseUrl === SAMPLE ? FIXED_TREE : STATIC_TREE
}
