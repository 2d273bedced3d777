import type { Interval } from './intervals.js'
import type { SymbolName } from './symbols.js'

/** A symbol and an interval of any length, also a resampled one such as `3h`. */
export interface SeriesLabel {
  readonly symbol: SymbolName
  readonly interval: string
}

/** One symbol at one interval of the service. */
export interface Series extends SeriesLabel {
  readonly symbol: SymbolName
  readonly interval: Interval
}

/** One window of a series, named as the service names it. */
export interface WindowRef extends Series {
  /** `YYYY-MM-DD`, the UTC day on which the window starts. */
  readonly startDate: string
}

export function windowOf({ symbol, interval }: Series, startDate: string): WindowRef {
  // Not by a spread: in Node 20 each object would get a hidden class of its own, and four times the memory.
  return { symbol, interval, startDate }
}

/** `BTCUSDT 1h`, for messages. */
export function seriesName({ symbol, interval }: SeriesLabel): string {
  return `${symbol} ${interval}`
}

/** `BTCUSDT 1h 2024-01-01`, for messages. */
export function windowName(window: WindowRef): string {
  return `${seriesName(window)} ${window.startDate}`
}
