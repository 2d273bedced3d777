import type { KlineRow } from '../../../src/candles/columns.js'
import { EXCHANGE_NOW, lowerBound, type Market, nextOpenTime } from '../exchange/market.js'
import { CONTRACTS, type Contract, endOf, isListed, type Span } from './contracts.js'
import { MadeCandles } from './made-candles.js'

/** The candles of a contract, its mark prices, and the index prices of a pair. */
export type CandleKind = 'klines' | 'markPriceKlines' | 'indexPriceKlines'

const DAY = 86_400_000
/** When the archive's candles begin; those of mark and index prices are older. */
const [ARCHIVE_BEGINS, PRICES_BEGIN] = [Date.UTC(2019, 11, 31, 0, 1), Date.UTC(2019, 11, 23, 11, 58)]
/** The delivery date of perpetuals. */
const NEVER = 4_133_404_800_000

/** The USD-M futures of the exchange: contracts, and pairs that have the index prices of the perpetual of their name. */
export class FuturesMarket implements Market {
  readonly futures = this
  private readonly series = new Map<string, MadeCandles>()

  constructor(readonly contracts: Readonly<Record<string, Contract>> = CONTRACTS) {}

  symbols(): readonly string[] {
    return Object.keys(this.contracts)
  }

  /** All rows of a contract, those after the clock of tests too. A perpetual has millions of 1m. */
  rows(symbol: string, interval: string): readonly KlineRow[] {
    return this.candles('klines', symbol, interval, [0, EXCHANGE_NOW + 60 * DAY])
  }

  /** The first `count` rows that open in a span, as they are at `now`. */
  candles(kind: CandleKind, name: string, interval: string, span: Span, now = 9e15, count = Infinity): KlineRow[] {
    const contract = this.contracts[name]
    if (contract.rows === undefined) return this.made(kind, name, contract).rows(interval, span, now, count)
    const rows = kind === 'klines' ? contract.rows(interval) : []
    return rows.slice(lowerBound(rows, span[0]), lowerBound(rows, Math.min(span[1], now + 1))).slice(0, count)
  }

  /** The last `count` rows that open before `end`. */
  newest(kind: CandleKind, name: string, interval: string, end: number, now: number, count: number): KlineRow[] {
    const contract = this.contracts[name]
    const step = interval === '1M' ? 31 * DAY : nextOpenTime(interval, 0)
    const start = Math.min(end, now, endOf(contract)) - (count + 2) * step
    return this.candles(kind, name, interval, [contract.rows ? 0 : start, end], now).slice(-count)
  }

  /** The rows that the archive has of a span: also those of another contract that had the name. */
  archived(kind: CandleKind, name: string, interval: string, [start, end]: Span): KlineRow[] {
    const contract = this.contracts[name]
    if (contract === undefined) return []
    const span = [Math.max(start, kind === 'klines' ? ARCHIVE_BEGINS : PRICES_BEGIN), end] as const
    const rows = this.candles(kind, name, interval, span)
    if (contract.earlier === undefined) return rows
    const earlier = { ...contract, from: contract.earlier[0], until: contract.earlier[1] }
    return [...this.made(kind, `${name} before`, earlier).rows(interval, span, end, Infinity), ...rows]
  }

  /** What `exchangeInfo` says at `now`. `padding`: text that each contract has more. */
  info(now: number, padding: string): unknown {
    const listed = Object.entries(this.contracts).filter(([, contract]) => isListed(contract, now))
    const symbols = listed.map(([symbol, { from, until = NEVER, status = 'TRADING', ...more }]) => ({
      symbol,
      pair: more.pair ?? symbol,
      contractType: more.type ?? 'PERPETUAL',
      deliveryDate: until,
      onboardDate: more.onboardDate ?? from,
      status: until <= now ? 'SETTLING' : now < from ? 'PENDING_TRADING' : status,
      pricePrecision: more.places?.[0] ?? 2,
      quantityPrecision: more.places?.[1] ?? 3,
      filters: [{ filterType: 'PRICE_FILTER', tickSize: '0.01', padding }],
    }))
    return { timezone: 'UTC', serverTime: now, futuresType: 'U_MARGINED', symbols }
  }

  private made(kind: CandleKind, name: string, contract: Contract): MadeCandles {
    const key = `${kind} ${name}`
    const made = this.series.get(key) ?? new MadeCandles(key, contract, kind !== 'klines')
    this.series.set(key, made)
    return made
  }
}
