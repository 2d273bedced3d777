import type { KlineRow } from '../../../src/candles/columns.js'
import { nextOpenTime } from './market.js'

const QUARTER = 900_000
const DAY = 86_400_000
/** A Monday. */
const MONDAY = 4 * DAY

/** A candle in integers: prices in units of 0.01, volume of 0.001, quote volume of 0.00001. */
export interface Candle {
  openTime: number
  closeTime: number
  open: number
  high: number
  low: number
  close: number
  volume: number
  quote: number
  count: number
}

type Span = readonly [start: number, end: number]

/**
 * The rows of a series: those of the finest interval, whose candles last `step` ms, or their exact aggregates on the grid of
 * `interval`. Finer intervals have none.
 */
export function makeRows(
  symbol: string,
  interval: string,
  from: number,
  until: number,
  holes: readonly Span[],
  step = QUARTER,
): KlineRow[] {
  if (interval !== '1M' && nextOpenTime(interval, 0) < step) return []
  const seed = seedOf(symbol)
  const findOpen = openTimes(interval, from)
  const candles: Candle[] = []
  for (let time = from; time < until; time += step) {
    const hole = holes.find(([start, end]) => time >= start && time < end)
    if (hole) time = hole[1] - step
    else addTo(candles, shortCandle(seed, time, step), findOpen(time))
  }
  return candles.map(toRow)
}

/** The function from a time to the open time of its candle: 3d from the listing's day, weeks from Monday. */
export function openTimes(interval: string, from: number): (time: number) => number {
  if (interval === '1M') {
    return time => Date.UTC(new Date(time).getUTCFullYear(), new Date(time).getUTCMonth())
  }
  const length = nextOpenTime(interval, 0)
  const anchor = interval === '1w' ? MONDAY : interval === '3d' ? from - (from % DAY) : 0
  return time => time - ((time - anchor) % length)
}

/** Adds a shortest candle to the one that opens at `openTime`, or begins that one. */
export function addTo(candles: Candle[], short: Candle, openTime: number): void {
  const last = candles[candles.length - 1]
  if (last?.openTime !== openTime) {
    candles.push({ ...short, openTime })
    return
  }
  last.closeTime = short.closeTime
  last.high = Math.max(last.high, short.high)
  last.low = Math.min(last.low, short.low)
  last.close = short.close
  last.volume += short.volume
  last.quote += short.quote
  last.count += short.count
}

/** A candle of `step` ms whose values depend on its time and the symbol; it opens where the one before it closed. */
function shortCandle(seed: number, openTime: number, step: number): Candle {
  const index = openTime / step
  const [open, close] = [priceAt(seed, index), priceAt(seed, index + 1)]
  const noise = mix(seed ^ 0x5bd1e995, index)
  // Takers buy a third: multiples of three keep the sums exact.
  const volume = 3 * (1000 + (noise % 30_000))
  return {
    openTime,
    closeTime: openTime + step - 1,
    open,
    high: Math.max(open, close) + (noise % 17),
    low: Math.min(open, close) - (noise % 13),
    close,
    volume,
    quote: volume * open,
    count: 1 + (noise % 500),
  }
}

function priceAt(seed: number, index: number): number {
  return 4000 + (mix(seed, index) % 1000)
}

/** An integer that follows from a name. */
export function seedOf(name: string): number {
  return [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7)
}

/** Mixes two integers to one below 2^32. */
export function mix(seed: number, index: number): number {
  let mixed = Math.imul(seed ^ index, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

function toRow({ openTime, closeTime, open, high, low, close, volume, quote, count }: Candle): KlineRow {
  const price = (units: number) => decimal(units, 2)
  const amounts = (part: number) => [decimal(volume / part, 3), decimal(quote / part, 5)] as const
  const [[base, quoted], takers] = [amounts(1), amounts(3)]
  const prices = [price(open), price(high), price(low), price(close)] as const
  return [openTime, ...prices, base, closeTime, quoted, count, ...takers, '0']
}

/** An integer number of units of 10^-`places`, with eight digits after the point. */
function decimal(units: number, places: number): string {
  const digits = String(units).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places).padEnd(8, '0')}`
}
