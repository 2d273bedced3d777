import type { Series, WindowRef } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'

/** The most rows of an answer; the longest window has 744. */
const LIMIT = 1_000

/** The names and last prices of all symbols, delisted ones too: the shortest list of names. Weight 4. */
export const NAMES_PATH = 'api/v3/ticker/price'
/** The exchange's clock. Weight 1. */
export const TIME_PATH = 'api/v3/time'

const KLINES_PATH = 'api/v3/klines'

/**
 * The path of the call for a window's candles; weight 2. `startTime` and `endTime` are inclusive, by open time
 * (https://github.com/binance/binance-spot-api-docs, rest-api.md, "Kline/Candlestick data").
 */
export function windowQuery(window: WindowRef): string {
  const { startTime, endTime } = windowSpan(window)
  return klinesPath(window, { startTime, endTime: endTime - 1, limit: LIMIT })
}

/** The path of the call for the first candle of a series; weight 2. */
export function firstCandleQuery(series: Series): string {
  return klinesPath(series, { startTime: 0, limit: 1 })
}

function klinesPath({ symbol, interval }: Series, times: Readonly<Record<string, number>>): string {
  const parameters = Object.entries({ symbol, interval, ...times }).map(([name, value]) => `${name}=${value}`)
  return `${KLINES_PATH}?${parameters.join('&')}`
}

/** The weight of a call: what it takes of the limit of a minute. */
export function callWeight(path: string): number {
  if (path === NAMES_PATH) return 4
  return path === TIME_PATH ? 1 : 2
}
