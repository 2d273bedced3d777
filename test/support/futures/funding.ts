import {
  BAD_LIMIT,
  jsonAnswer,
  missingParameter,
  type PlainAnswer,
  UNKNOWN_SYMBOL,
} from '../exchange/exchange-answers.js'
import type { ExchangeRequest } from '../exchange/exchange-request.js'
import { mix, seedOf } from '../exchange/made-rows.js'
import type { FuturesMarket } from './futures-market.js'

const HOUR = 3_600_000
/** Before this time rates are those of the beginning, at whole hours. */
const VARIED_FROM = Date.UTC(2020, 0)
/** Before this time rows have no mark price. */
const MARKED_FROM = Date.UTC(2023, 0)
/** Perpetuals have funding until then. */
const MADE_UNTIL = Date.UTC(2027, 6)

/** A funding: when it was due, and its time by the exchange, some ms later. */
interface Funding {
  readonly due: number
  readonly time: number
}

/**
 * The answer to a request for funding: ascending from `startTime` on, or the newest rows; both times inclusive. `faults`: `doubled`
 * for every hundredth row twice, `tied` for rows 1,000 and 1,001 at the same time.
 */
export function answerFunding(
  market: FuturesMarket,
  { symbol, startTime, endTime = Infinity, limit = 100 }: ExchangeRequest,
  now: number,
  faults: ReadonlySet<string>,
): PlainAnswer {
  if (!symbol) return missingParameter('symbol')
  if (market.contracts[symbol] === undefined) return UNKNOWN_SYMBOL
  if (limit < 1 || limit > 1000) return BAD_LIMIT
  const all = allFunding(market, symbol)
  if (faults.has('tied')) all[1000] = { due: all[1000].due, time: all[999].time }
  const found = all
    .flatMap((one, index) => (faults.has('doubled') && index % 100 === 99 ? [one, one] : [one]))
    .filter(({ time }) => time >= (startTime ?? 0) && time <= Math.min(endTime, now))
  const page = startTime === undefined ? found.slice(-limit) : found.slice(0, limit)
  return jsonAnswer(page.map(one => toRow(market, symbol, one)))
}

/** Contracts with other hours than eight, and a name of another exchange. */
export function answerFundingInfo({ contracts }: FuturesMarket, now: number): PlainAnswer {
  const adjusted = Object.entries(contracts).flatMap(([symbol, { funding = [] }]) => {
    const [since, hours] = funding.findLast(([from]) => from <= now) ?? [0, 8]
    return hours === 8 ? [] : [{ symbol, fundingIntervalHours: hours, updateTime: since }]
  })
  return jsonAnswer([...adjusted, { symbol: 'BTCUSD_PERP', fundingIntervalHours: 8, updateTime: null }])
}

function allFunding(market: FuturesMarket, symbol: string): Funding[] {
  const { from, until = MADE_UNTIL, funding = [[from, 8]] } = market.contracts[symbol]
  const all: Funding[] = []
  for (const [index, [since, hours]] of funding.entries()) {
    const step = hours * HOUR
    const end = funding[index + 1]?.[0] ?? until
    for (let due = Math.ceil(since / step) * step; due < end; due += step) {
      all.push({ due, time: due < VARIED_FROM ? due : due + (noiseOf(symbol, due) % 20) })
    }
  }
  return all
}

function toRow(market: FuturesMarket, symbol: string, { due, time }: Funding) {
  const noise = noiseOf(symbol, due)
  const units = due < VARIED_FROM || noise % 4 === 0 ? 10_000 : (noise % 60_000) - 20_000
  const fundingRate = `${units < 0 ? '-' : ''}0.${String(Math.abs(units)).padStart(8, '0')}`
  const [mark] = due < MARKED_FROM ? [] : market.candles('markPriceKlines', symbol, '1m', [due, due + 1])
  return { symbol, fundingTime: time, fundingRate, markPrice: mark?.[1] ?? '', rateType: 'Regular' }
}

function noiseOf(symbol: string, due: number): number {
  return mix(seedOf(symbol), due / HOUR)
}
