import { type Market, marketOf } from '../../../src/candles/base-url.js'

/** The exchange's spot market. */
export const SPOT = marketOf('binance') as Market
