import { mix, seedOf } from '../exchange/made-rows.js'
import type { FuturesMarket } from './futures-market.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Before this time rows have no mark price. */
const MARKED_FROM = Date.UTC(2023, 0)
/** Perpetuals have funding until then. */
const MADE_UNTIL = Date.UTC(2027, 6)

/** What is wrong with answers about funding. */
export type FundingFault = 'doubled' | 'empty' | 'tied'

export interface FundingRow {
  readonly symbol: string
  readonly fundingTime: number
  readonly fundingRate: string
  readonly markPrice: string
  readonly rateType: string
}

const made = new WeakMap<FuturesMarket, Map<string, readonly FundingRow[]>>()

/**
 * The funding of a contract, ascending, in times that are some ms late. `doubled`: every hundredth row comes twice; `empty`: there
 * is none; `tied`: rows 1,000 and 1,001 have the same time.
 */
export function fundingRows(
  market: FuturesMarket,
  symbol: string,
  faults: ReadonlySet<FundingFault>,
): readonly FundingRow[] {
  const known = made.get(market) ?? new Map<string, readonly FundingRow[]>()
  made.set(market, known)
  const rows =
    known.get(symbol) ?? fundingTimes(market, symbol).map((time, index) => toRow(market, symbol, time, index))
  known.set(symbol, rows)
  if (faults.has('empty')) return []
  const tied = faults.has('tied') ? rows.map((row, index) => (index === 1000 ? atTimeOf(row, rows[999]) : row)) : rows
  return faults.has('doubled') ? tied.flatMap((row, index) => (index % 100 === 99 ? [row, row] : [row])) : tied
}

function atTimeOf(row: FundingRow, { fundingTime }: FundingRow): FundingRow {
  return { ...row, fundingTime }
}

/** Whole hours, at the distance that holds then. */
function fundingTimes(market: FuturesMarket, symbol: string): number[] {
  const { from, until = MADE_UNTIL, funding = [[from, 8]] } = market.contracts[symbol]
  const times: number[] = []
  for (const [index, [since, hours]] of funding.entries()) {
    const step = hours * HOUR
    const end = funding[index + 1]?.[0] ?? until
    for (let time = Math.ceil(since / step) * step; time < end; time += step) times.push(time)
  }
  return times
}

function toRow(market: FuturesMarket, symbol: string, time: number, index: number): FundingRow {
  const noise = mix(seedOf(symbol), time / HOUR)
  const units = index === 0 || noise % 4 === 0 ? 10_000 : (noise % 60_000) - 20_000
  const fundingRate = `${units < 0 ? '-' : ''}0.${String(Math.abs(units)).padStart(8, '0')}`
  const [mark] =
    time < MARKED_FROM ? [] : market.candles('markPriceKlines', symbol, '1m', [time, time + MINUTE], time + MINUTE)
  const fundingTime = index === 0 ? time : time + (noise % 20)
  return { symbol, fundingTime, fundingRate, markPrice: mark?.[1] ?? '', rateType: 'Regular' }
}
