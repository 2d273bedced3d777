import {
  BAD_LIMIT,
  jsonAnswer,
  missingParameter,
  NOT_FOUND,
  type PlainAnswer,
  UNKNOWN_INTERVAL,
  UNKNOWN_SYMBOL,
} from '../exchange/exchange-answers.js'
import type { ExchangeRequest } from '../exchange/exchange-request.js'
import { type Contract, isListed } from './contracts.js'
import { type FundingFault, fundingRows } from './funding.js'
import { type CandleKind, FUTURES_INTERVALS, type FuturesMarket } from './futures-market.js'

const MAX_LIMIT = 1500
const MAX_FUNDING_ROWS = 1000
/** The delivery date of perpetuals. */
const NEVER = 4_133_404_800_000
/** `exchangeInfo` has 3 MB. */
export type FuturesFault = FundingFault | 'big'

/** How the exchange differs from its market. */
interface Behaviour {
  readonly faults: ReadonlySet<FuturesFault>
  /** The most rows of an answer about candles. */
  readonly maxRows: number
}

/** The answer of the futures exchange to a request, at `now`. */
export function answerFutures(
  market: FuturesMarket,
  request: ExchangeRequest,
  now: number,
  { faults, maxRows }: Behaviour,
): PlainAnswer {
  const { kind } = request
  if (kind === 'klines' || kind === 'markPriceKlines' || kind === 'indexPriceKlines') {
    return answerCandles(market, kind, request, now, maxRows)
  }
  if (kind === 'fundingRate') return answerFunding(market, request, now, faults as ReadonlySet<FundingFault>)
  if (kind === 'fundingInfo') return jsonAnswer(fundingInfo(market, now))
  const listed = Object.entries(market.contracts).filter(([, contract]) => isListed(contract, now))
  if (kind === 'exchangeInfo') return jsonAnswer(exchangeInfo(listed, now, faults.has('big')))
  if (kind === 'prices') return jsonAnswer(listed.map(([symbol]) => ({ symbol, price: '7177.93', time: now })))
  if (kind === 'time') return jsonAnswer({ serverTime: now })
  return kind === 'ping' ? jsonAnswer({}) : NOT_FOUND
}

/** Rows from `startTime` on, or the newest ones; both times inclusive, by open time. */
function answerCandles(
  market: FuturesMarket,
  kind: CandleKind,
  request: ExchangeRequest,
  now: number,
  maxRows: number,
): PlainAnswer {
  const { query, interval, startTime, endTime = Number.MAX_SAFE_INTEGER - 1 } = request
  const parameter = kind === 'indexPriceKlines' ? 'pair' : 'symbol'
  const name = query.get(parameter)
  if (!name) return missingParameter(parameter)
  if (!interval) return missingParameter('interval')
  const limit = query.has('limit') ? request.limit : 500
  if (limit === undefined || limit < 1 || limit > MAX_LIMIT) return BAD_LIMIT
  // An index has the candles of the perpetual of its name.
  if (market.contracts[name] === undefined || (kind === 'indexPriceKlines' && market.contracts[name].pair)) {
    return UNKNOWN_SYMBOL
  }
  if (!FUTURES_INTERVALS.includes(interval)) return UNKNOWN_INTERVAL
  const count = Math.min(limit, maxRows)
  if (startTime === undefined) return jsonAnswer(market.newest(kind, name, interval, endTime + 1, count, now))
  return jsonAnswer(market.oldest(kind, name, interval, [startTime, endTime + 1], count, now))
}

/** Ascending from `startTime` on, or the newest ones; both times inclusive. */
function answerFunding(
  market: FuturesMarket,
  request: ExchangeRequest,
  now: number,
  faults: ReadonlySet<FundingFault>,
): PlainAnswer {
  const { query, symbol, startTime, endTime = now } = request
  if (!symbol) return missingParameter('symbol')
  if (market.contracts[symbol] === undefined) return UNKNOWN_SYMBOL
  const limit = query.has('limit') ? request.limit : 100
  if (limit === undefined || limit < 1 || limit > MAX_FUNDING_ROWS) return BAD_LIMIT
  const rows = fundingRows(market, symbol, faults).filter(({ fundingTime }) => {
    return fundingTime >= (startTime ?? 0) && fundingTime <= Math.min(endTime, now)
  })
  return jsonAnswer(startTime === undefined ? rows.slice(-limit) : rows.slice(0, limit))
}

/** Only contracts whose hours were adjusted, names of another exchange among them. */
function fundingInfo(market: FuturesMarket, now: number): unknown[] {
  const caps = { adjustedFundingRateCap: '0.02000000', adjustedFundingRateFloor: '-0.02000000', disclaimer: false }
  const adjusted = Object.entries(market.contracts).flatMap(([symbol, { funding = [] }]) => {
    const [since, hours] = funding.findLast(([from]) => from <= now) ?? [0, 8]
    return hours === 8 ? [] : [{ symbol, ...caps, fundingIntervalHours: hours, updateTime: since }]
  })
  return [...adjusted, { symbol: 'BTCUSD_PERP', ...caps, fundingIntervalHours: 8, updateTime: null }]
}

function exchangeInfo(listed: readonly [string, Contract][], now: number, isBig: boolean): unknown {
  const padding = isBig ? 'x'.repeat(Math.ceil(3e6 / listed.length)) : ''
  const symbols = listed.map(([symbol, contract]) => {
    const { from, until = Infinity, places = [2, 3], pair = symbol } = contract
    const isOver = until <= now
    return {
      symbol,
      pair,
      contractType: contract.type ?? 'PERPETUAL',
      deliveryDate: until === Infinity ? NEVER : until,
      onboardDate: contract.onboardDate ?? from,
      status: isOver ? 'SETTLING' : (contract.status ?? (now < from ? 'PENDING_TRADING' : 'TRADING')),
      pricePrecision: places[0],
      quantityPrecision: places[1],
      filters: [{ filterType: 'PRICE_FILTER', tickSize: '0.01', padding }],
      orderTypes: ['LIMIT', 'MARKET'],
    }
  })
  return { timezone: 'UTC', serverTime: now, futuresType: 'U_MARGINED', rateLimits: [], exchangeFilters: [], symbols }
}
