import type { KlineRow } from '../../../src/candles/columns.js'
import { seedOf } from '../exchange/made-rows.js'
import { EXCHANGE_INTERVALS, EXCHANGE_NOW, lowerBound, type Market, nextOpenTime } from '../exchange/market.js'
import { CONTRACTS, type Contract, endOf, type Span } from './contracts.js'
import { MadeCandles } from './made-candles.js'

/** The candles of a contract, its mark prices, and the index prices of a pair. */
export type CandleKind = 'klines' | 'markPriceKlines' | 'indexPriceKlines'

/** The exchange has no candles of seconds here. */
export const FUTURES_INTERVALS = EXCHANGE_INTERVALS.filter(interval => interval !== '1s')

const DAY = 86_400_000
/** When the archive's candles begin. */
const ARCHIVE_BEGINS: Readonly<Record<CandleKind, number>> = {
  klines: Date.UTC(2019, 11, 31, 0, 1),
  markPriceKlines: Date.UTC(2019, 11, 23, 11, 58),
  indexPriceKlines: Date.UTC(2019, 11, 23, 11, 58),
}

/** The USD-M futures of the exchange. */
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

  /** The rows of a contract, or of a pair, that open in a span, as they are at `now`. */
  candles(kind: CandleKind, name: string, interval: string, span: Span, now = Number.MAX_SAFE_INTEGER): KlineRow[] {
    const contract = this.contracts[name]
    const { rows } = contract
    if (rows === undefined) return this.made(kind, name, contract).rows(interval, span, now)
    const listed = kind === 'klines' ? (rows[interval] ?? []) : []
    return listed.slice(lowerBound(listed, span[0]), lowerBound(listed, Math.min(span[1], now + 1)))
  }

  /** The first rows that open in a span, at most `count`. */
  oldest(kind: CandleKind, name: string, interval: string, span: Span, count: number, now: number): KlineRow[] {
    const length = this.longest(name, interval)
    const start = Math.max(span[0], this.contracts[name].from - length)
    const rows = this.candles(kind, name, interval, [span[0], Math.min(span[1], start + (count + 2) * length)], now)
    return rows.slice(0, count)
  }

  /** The last rows that open before `end`, at most `count`. */
  newest(kind: CandleKind, name: string, interval: string, end: number, count: number, now: number): KlineRow[] {
    const last = Math.min(end, now + 1, endOf(this.contracts[name]))
    const start = last - (count + 2) * this.longest(name, interval)
    return this.candles(kind, name, interval, [start, end], now).slice(-count)
  }

  /** The most time from a row to the next one. */
  private longest(name: string, interval: string): number {
    if (this.contracts[name].rows) return Infinity
    return interval === '1M' ? 31 * DAY : nextOpenTime(interval, 0)
  }

  /** The rows that the archive has of a span: also those of another contract that had the name. */
  archived(kind: CandleKind, name: string, interval: string, [start, end]: Span): KlineRow[] {
    const contract = this.contracts[name]
    if (contract === undefined) return []
    const span = [Math.max(start, ARCHIVE_BEGINS[kind]), end] as const
    const rows = this.candles(kind, name, interval, span)
    if (contract.earlier === undefined) return rows
    const earlier = { ...contract, from: contract.earlier[0], until: contract.earlier[1] }
    return [...this.made(kind, `${name} ${earlier.from}`, earlier).rows(interval, span, span[1]), ...rows]
  }

  private made(kind: CandleKind, name: string, contract: Contract): MadeCandles {
    const key = `${kind} ${name}`
    const made = this.series.get(key) ?? new MadeCandles(makingOf(kind, key, contract))
    this.series.set(key, made)
    return made
  }
}

function makingOf(kind: CandleKind, key: string, contract: Contract) {
  const { from, until = Infinity, halts = [], places = [2, 3], price = 700_000 } = contract
  const end = endOf(contract)
  const isPrice = kind !== 'klines'
  const flats: Span[] = [...(isPrice ? [] : halts), [until, end]]
  const scale = isPrice ? 10 ** (8 - places[0]) : 1
  const digits = isPrice ? ([8, 0] as const) : places
  return { seed: seedOf(key), from, end, flats, places: digits, price: price * scale, isPrice }
}
