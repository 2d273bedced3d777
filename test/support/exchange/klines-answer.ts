import type { KlineRow } from '../../../src/candles/columns.js'
import type { CandleKind, FuturesMarket } from '../futures/futures-market.js'
import {
  BAD_LIMIT,
  illegalCharacters,
  jsonAnswer,
  missingParameter,
  type PlainAnswer,
  UNKNOWN_INTERVAL,
  UNKNOWN_SYMBOL,
} from './exchange-answers.js'
import type { ExchangeRequest } from './exchange-request.js'
import { EXCHANGE_INTERVALS, lowerBound, type Market } from './market.js'
import { openCandle, stateAt } from './open-candle.js'

/** The answer to a request for candles. A limit above 1,000 is an error: what the spot exchange does then is not known. */
export function answerKlines(market: Market, request: ExchangeRequest, now: number, maxRows: number): PlainAnswer {
  const { kind, interval, query } = request
  const parameter = kind === 'indexPriceKlines' ? 'pair' : 'symbol'
  const symbol = query.get(parameter)
  if (!symbol) return missingParameter(parameter)
  if (!interval) return missingParameter('interval')
  // As the exchange reads it: any letter but a to z.
  if (!/^[\p{L}\p{M}\p{N}_.-]{1,50}$/u.test(symbol) || /[a-z]/.test(symbol))
    return illegalCharacters('symbol', '^[\\w\\-._&&[^a-z]]{1,50}$')
  for (const name of ['startTime', 'endTime', 'limit']) {
    if (!/^\d{1,20}$/.test(query.get(name) ?? '0')) return illegalCharacters(name, '^[0-9]{1,20}$')
  }
  const isPairless = parameter === 'pair' && market.futures?.contracts[symbol]?.pair !== undefined
  if (!market.symbols().includes(symbol) || isPairless) return UNKNOWN_SYMBOL
  if (!EXCHANGE_INTERVALS.includes(interval) || (market.futures && interval === '1s')) return UNKNOWN_INTERVAL
  const { limit = 500 } = request
  if (limit < 1 || limit > (market.futures ? 1500 : 1000)) return BAD_LIMIT
  const selected = { ...request, symbol, limit: Math.min(limit, maxRows) }
  return jsonAnswer(market.futures ? selectFutures(market.futures, selected, now) : selectRows(market, selected, now))
}

function selectFutures(market: FuturesMarket, request: ExchangeRequest, now: number): KlineRow[] {
  const { symbol = '', interval = '', startTime, endTime = now, limit = 500 } = request
  const kind = request.kind as CandleKind
  if (startTime === undefined) return market.newest(kind, symbol, interval, endTime + 1, now, limit)
  return market.candles(kind, symbol, interval, [startTime, endTime + 1], now, limit)
}

/** From `startTime` on, or the most recent rows, at most `limit`; both times inclusive, by open time. */
function selectRows(market: Market, request: ExchangeRequest, now: number): KlineRow[] {
  const { symbol = '', interval = '', startTime, endTime = Number.MAX_SAFE_INTEGER, limit = 500 } = request
  const { rows, closed, opened } = stateAt(market, symbol, interval, now)
  const isOpenWanted = opened !== undefined && opened[0] <= endTime && opened[0] >= (startTime ?? 0)
  const end = Math.min(closed, lowerBound(rows, endTime + 1))
  const start = startTime === undefined ? end - limit + Number(isOpenWanted) : lowerBound(rows, startTime)
  const selected = rows.slice(Math.max(0, start), Math.max(0, Math.min(end, start + limit)))
  if (isOpenWanted && selected.length < limit) selected.push(openCandle(market, symbol, interval, opened, now))
  return selected
}
