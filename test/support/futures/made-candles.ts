import type { KlineRow } from '../../../src/candles/columns.js'
import { addTo, type Candle, mix, openTimes } from '../exchange/made-rows.js'
import { nextOpenTime } from '../exchange/market.js'
import type { Span } from './contracts.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Whole candles of these lengths are kept, so that a day is computed once. */
const KEPT = [DAY, HOUR]
/** Intervals that are written without zeros at the end of a decimal. */
const SHORT = ['2h', '1d']
/** Before this time whole prices are written without a point. */
const BARE_UNTIL = Date.UTC(2020, 8)

/** What the candles of a series follow from; times in ms UTC. */
export interface Making {
  readonly seed: number
  readonly from: number
  readonly end: number
  /** Spans without a trade. */
  readonly flats: readonly Span[]
  /** Digits after the point. */
  readonly places: readonly [price: number, volume: number]
  /** The lowest price, in units of its last digit. */
  readonly price: number
  /** Of mark and index prices, which have eight digits, no volume, and counts that do not add up. */
  readonly isPrice: boolean
}

/** The candles of a series, each made when it is asked for: of minutes that follow from their time, so that sums are exact. */
export class MadeCandles {
  private readonly kept = new Map<string, Candle>()

  constructor(private readonly making: Making) {}

  /** The rows that open in a span, as they are at `now`: the last one may be open. */
  rows(interval: string, [start, end]: Span, now: number): KlineRow[] {
    const { from } = this.making
    const madeUntil = Math.min(this.making.end, now + 1)
    const first = openTimes(interval, from)(Math.max(start, from))
    const rows: KlineRow[] = []
    let time = first < start ? nextOpenTime(interval, first) : first
    while (time < Math.min(end, madeUntil)) {
      const next = nextOpenTime(interval, time)
      const candle = this.between(Math.max(time, from), Math.min(next, madeUntil))
      rows.push(this.toRow(interval, { ...candle, openTime: time, closeTime: next - 1 }))
      time = next
    }
    return rows
  }

  /** The sum of the candles of a span, those of at least `shorterThan` ms not in one. */
  private between(start: number, end: number, shorterThan = Infinity): Candle {
    const candles: Candle[] = []
    for (let time = start; time < end; ) {
      const length = shorterThan === HOUR ? MINUTE : longestAt(time, end, shorterThan)
      addTo(candles, length === MINUTE ? this.minute(time, end) : this.whole(time, length), start)
      time += length
    }
    return candles[0]
  }

  private whole(time: number, length: number): Candle {
    const key = `${length} ${time}`
    const candle = this.kept.get(key) ?? this.between(time, time + length, length)
    this.kept.set(key, candle)
    return candle
  }

  /** A minute, or a half of its trades when it is open: it ends after `end`. */
  private minute(openTime: number, end: number): Candle {
    const { seed, isPrice } = this.making
    const noise = mix(seed ^ 0x5bd1e995, openTime / MINUTE) >>> 1
    const [openAt, closeAt] = [this.pricedAt(openTime), this.pricedAt(openTime + MINUTE)]
    const isFlat = openAt === closeAt
    const [open, close] = [this.priceAt(openAt), this.priceAt(closeAt)]
    const traded = 1000 + (noise % 30_000)
    // Takers buy a third: multiples of three keep the sums exact.
    const volume = isFlat || isPrice ? 0 : 3 * (end < openTime + MINUTE ? traded >> 1 : traded)
    const trades = isPrice ? 60 : 1 + (noise % 500)
    return {
      openTime,
      closeTime: openTime + MINUTE - 1,
      open,
      high: Math.max(open, close) + (isFlat ? 0 : noise % 17),
      low: Math.min(open, close) - (isFlat ? 0 : noise % 13),
      close,
      volume,
      quote: volume * open,
      count: isFlat && !isPrice ? 0 : trades,
    }
  }

  /** When the price of a time was made: in a flat span at its start, so that a candle after it opens where the last one closed. */
  private pricedAt(time: number): number {
    for (const flat of this.making.flats) if (time >= flat[0] && time <= flat[1]) return flat[0]
    return time
  }

  private priceAt(time: number): number {
    const { seed, price } = this.making
    return price + ((mix(seed, time / MINUTE) >>> 1) % Math.ceil(price / 7))
  }

  private toRow(interval: string, { openTime, closeTime, volume, quote, count, ...prices }: Candle): KlineRow {
    const { isPrice, places, seed } = this.making
    const isShort = !isPrice && SHORT.includes(interval)
    const isBare = !isPrice && openTime < BARE_UNTIL
    const price = (units: number) => decimal(units, places[0], isShort, isBare)
    const cells = [price(prices.open), price(prices.high), price(prices.low), price(prices.close)] as const
    if (isPrice) {
      const seconds = interval === '1m' && mix(seed, openTime) % 9 === 0 ? 48 : count
      return [openTime, ...cells, '0', closeTime, '0', seconds, '0', '0', '0']
    }
    const amount = (units: number, digits: number) => decimal(units, digits, isShort && units > 0)
    const [base, quoted] = [places[1], places[0] + places[1]]
    const takers = [amount(volume / 3, base), amount(quote / 3, quoted)] as const
    return [openTime, ...cells, amount(volume, base), closeTime, amount(quote, quoted), count, ...takers, '0']
  }
}

function longestAt(time: number, end: number, shorterThan: number): number {
  return KEPT.find(length => length < shorterThan && time % length === 0 && time + length <= end) ?? MINUTE
}

/** A number of units of 10^-`places`; `isShort`: without zeros at its end, `isBare`: a whole one without a point. */
function decimal(units: number, places: number, isShort: boolean, isBare = false): string {
  if (places === 0) return String(units)
  const digits = String(units).padStart(places + 1, '0')
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`
  if (isShort) return text.replace(/\.?0+$/, '')
  return isBare ? text.replace(/\.0+$/, '') : text
}
