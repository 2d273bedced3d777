import { type Interval, MINUTE_MS } from '../candles/intervals.js'
import type { Series, WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import { parseRetryAfter } from './retry.js'
import type { WholeResponse } from './transport.js'

/** The most rows of an answer of the exchange. A day of 1m has 1,440 candles, any other window 744 at the most. */
const LIMIT = 1_000

/** The names and last prices of all symbols, delisted ones too: the shortest list of names. Weight 4. */
export const NAMES_PATH = 'api/v3/ticker/price'
/** The exchange's clock. Weight 1. */
export const TIME_PATH = 'api/v3/time'

const KLINES_PATH = 'api/v3/klines'
const KLINES_WEIGHT = 2

/** The calls that a whole window of an interval takes; one whose candles end early, in an outage, takes one more. */
export function windowCalls(interval: Interval): number {
  return interval === '1m' ? 2 : 1
}

/**
 * The path of the call for a window's candles, or for those that open at `from` (ms UTC) or later; weight 2. `startTime` and
 * `endTime` are inclusive, by open time (https://github.com/binance/binance-spot-api-docs, rest-api.md, "Kline/Candlestick data").
 */
export function windowCall(window: WindowRef, from?: number): string {
  const { startTime: first, endTime } = windowSpan(window)
  const startTime = from ?? first
  return klinesPath(window, { startTime, endTime: endTime - 1, limit: LIMIT })
}

/** The path of the call for the first candle of a series; weight 2. */
export function firstCandleCall(series: Series): string {
  return klinesPath(series, { startTime: 0, limit: 1 })
}

function klinesPath({ symbol, interval }: Series, times: Readonly<Record<string, number>>): string {
  const parameters = Object.entries({ symbol, interval, ...times }).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  )
  return `${KLINES_PATH}?${parameters.join('&')}`
}

/** The weight of a call: what it takes of the limit of a minute. */
export function callWeight(path: string): number {
  if (path === NAMES_PATH) return 4
  return path === TIME_PATH ? 1 : KLINES_WEIGHT
}

/** The weight of these calls. */
export function windowWeight(interval: Interval): number {
  return windowCalls(interval) * KLINES_WEIGHT
}

/** Half of the limit of a minute, 6,000: other programs share it, which is one for each IP address. */
const WEIGHT_BUDGET = 3_000
/** The Date of a response has whole seconds. */
const MARGIN_MS = 500

/** The time in which calls of a weight use the budget, ms. */
export function budgetMs(weight: number): number {
  return (weight * MINUTE_MS) / WEIGHT_BUDGET
}

/** Counts how much of the exchange's limit is used in the present minute of its clock. */
export class WeightCounter {
  /** Minutes since the epoch. */
  private minute = 0
  private own = 0

  /** Adds a request without an answer: the exchange may have counted it. */
  addFailure(weight: number): void {
    this.own += weight
  }

  /**
   * Adds an answered request. Returns how long to send no further one, ms: to the next minute when half of the limit is used,
   * by the answer's own figure (`X-MBX-USED-WEIGHT-1M`, which other programs on this address add to) or else by our count.
   */
  add({ status, headers }: WholeResponse, weight: number, servedMs: number): number {
    const minute = Math.floor(servedMs / MINUTE_MS)
    if (minute > this.minute) {
      this.minute = minute
      this.own = 0
    }
    if (minute === this.minute) this.own += weight
    const header = headers['x-mbx-used-weight-1m']
    const used = header !== undefined && /^\d+$/.test(header) ? Number(header) : this.own
    // A few more requests after a 429 are a ban: without a time to come back, the next minute is one.
    const isRefused = status === 429 && !parseRetryAfter(headers['retry-after'], servedMs)
    const isOver = used >= WEIGHT_BUDGET || isRefused
    return isOver ? Math.min(MINUTE_MS, MINUTE_MS - (servedMs % MINUTE_MS) + MARGIN_MS) : 0
  }
}
