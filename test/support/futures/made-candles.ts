import type { KlineRow } from '../../../src/candles/columns.js'
import { addTo, type Candle, mix, openTimes, seedOf } from '../exchange/made-rows.js'
import { nextOpenTime } from '../exchange/market.js'
import { type Contract, endOf, type Span } from './contracts.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Whole candles of these lengths are kept, so that a day is computed once. */
const KEPT = [24 * HOUR, HOUR]
/** Intervals that are written without zeros at the end of a decimal. */
const SHORT = ['2h', '1d']
/** Before this time whole prices are written without a point. */
const BARE_UNTIL = Date.UTC(2020, 8)

/** The candles of a contract, or its mark prices, each made when it is asked for: of minutes that follow from their time. */
export class MadeCandles {
  private readonly seed: number
  /** Spans without a trade. */
  private readonly flats: readonly Span[]
  private readonly places: readonly [price: number, volume: number]
  /** The lowest price, in units of its last digit. */
  private readonly price: number
  private readonly kept = new Map<string, Candle>()

  /** `isPrice`: of mark and index prices, which have eight digits, no volume, and counts that do not add up. */
  constructor(
    name: string,
    private readonly contract: Contract,
    private readonly isPrice: boolean,
  ) {
    const { until = Infinity, halts = [], places = [2, 3], price = 700_000 } = contract
    this.seed = seedOf(name)
    this.flats = [...(isPrice ? [] : halts), [until, endOf(contract)]]
    this.places = isPrice ? [8, 0] : places
    this.price = isPrice ? price * 10 ** (8 - places[0]) : price
  }

  /** The first `count` rows that open in a span, as they are at `now`: the last one may be open. */
  rows(interval: string, [start, end]: Span, now: number, count: number): KlineRow[] {
    const { from } = this.contract
    const madeUntil = Math.min(endOf(this.contract), now + 1)
    const first = openTimes(interval, from)(Math.max(start, from))
    const rows: KlineRow[] = []
    let time = first < start ? nextOpenTime(interval, first) : first
    while (time < Math.min(end, madeUntil) && rows.length < count) {
      const next = nextOpenTime(interval, time)
      const candle = this.between(Math.max(time, from), Math.min(next, madeUntil))
      rows.push(this.toRow(interval, { ...candle, openTime: time, closeTime: next - 1 }))
      time = next
    }
    return rows
  }

  /** The sum of the candles of a span. `below`: the length that the longest of them are shorter than. */
  private between(start: number, end: number, below = Infinity): Candle {
    const candles: Candle[] = []
    for (let time = start; time < end; ) {
      const length = KEPT.find(one => one < below && time % one === 0 && time + one <= end)
      addTo(candles, length === undefined ? this.minute(time, end) : this.whole(time, length), start)
      time += length ?? MINUTE
    }
    return candles[0]
  }

  private whole(time: number, length: number): Candle {
    const key = `${length} ${time}`
    const candle = this.kept.get(key) ?? this.between(time, time + length, length)
    this.kept.set(key, candle)
    return candle
  }

  /** A minute, or a half of its trades when it is open: then it ends after `end`. */
  private minute(openTime: number, end: number): Candle {
    const noise = mix(this.seed ^ 0x5bd1e995, openTime / MINUTE) >>> 1
    const [openAt, closeAt] = [this.pricedAt(openTime), this.pricedAt(openTime + MINUTE)]
    const isFlat = openAt === closeAt
    const [open, close] = [this.priceAt(openAt), this.priceAt(closeAt)]
    const traded = 1000 + (noise % 30_000)
    // Takers buy a third: multiples of three keep the sums exact.
    const volume = isFlat || this.isPrice ? 0 : 3 * (end < openTime + MINUTE ? traded >> 1 : traded)
    return {
      openTime,
      closeTime: openTime + MINUTE - 1,
      open,
      high: Math.max(open, close) + (isFlat ? 0 : noise % 17),
      low: Math.min(open, close) - (isFlat ? 0 : noise % 13),
      close,
      volume,
      quote: volume * open,
      count: this.isPrice ? 60 : isFlat ? 0 : 1 + (noise % 500),
    }
  }

  /** When the price of a time was made: in a flat span at its start, so that a candle after it opens where the last one closed. */
  private pricedAt(time: number): number {
    for (const flat of this.flats) if (time >= flat[0] && time <= flat[1]) return flat[0]
    return time
  }

  private priceAt(time: number): number {
    return this.price + ((mix(this.seed, time / MINUTE) >>> 1) % Math.ceil(this.price / 7))
  }

  private toRow(interval: string, { openTime, closeTime, volume, quote, count, ...prices }: Candle): KlineRow {
    const isShort = !this.isPrice && SHORT.includes(interval)
    const isBare = !this.isPrice && openTime < BARE_UNTIL
    const price = (units: number) => decimal(units, this.places[0], isShort, isBare)
    const cells = [price(prices.open), price(prices.high), price(prices.low), price(prices.close)] as const
    if (this.isPrice) {
      const seconds = interval === '1m' && mix(this.seed, openTime) % 9 === 0 ? 48 : count
      return [openTime, ...cells, '0', closeTime, '0', seconds, '0', '0', '0']
    }
    const base = (units: number) => decimal(units, this.places[1], isShort && units > 0)
    const quoted = (units: number) => decimal(units, this.places[0] + this.places[1], isShort && units > 0)
    const takers = [base(volume / 3), quoted(quote / 3)] as const
    return [openTime, ...cells, base(volume), closeTime, quoted(quote), count, ...takers, '0']
  }
}

/** A number of units of 10^-`places`; `isShort`: without zeros at its end, `isBare`: a whole one without a point. */
function decimal(units: number, places: number, isShort: boolean, isBare = false): string {
  if (places === 0) return String(units)
  const digits = String(units).padStart(places + 1, '0')
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`
  if (isShort) return text.replace(/\.?0+$/, '')
  return isBare ? text.replace(/\.0+$/, '') : text
}
