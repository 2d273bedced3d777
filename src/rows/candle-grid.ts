import { KlinesError } from '../candles/errors.js'
import { FIRST_MONDAY, monthIndex, monthStart, UNIT_MS } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { parseDate } from '../candles/windows.js'
import { hasListingGrid, parseTargetInterval, type TargetInterval } from './target-interval.js'

/**
 * The listing dates of the ten symbols of the public service: 3d candles are counted from this day (measured on the
 * service's whole tree). The 3d grid of any other symbol comes from its first 3d candle.
 */
const LISTING_DATES: Readonly<Record<SymbolName, string>> = {
  BTCUSDT: '2017-08-17',
  ETHUSDT: '2017-08-17',
  BNBUSDT: '2017-11-06',
  ADAUSDT: '2018-04-17',
  XRPUSDT: '2018-05-04',
  LINKUSDT: '2019-01-16',
  DOGEUSDT: '2019-07-05',
  SOLUSDT: '2020-08-11',
  DOTUSDT: '2020-08-18',
  AVAXUSDT: '2020-09-22',
}

/** When the candles of a target interval open, ms UTC. */
export class CandleGrid {
  /** Length of a candle in ms; undefined for months. */
  readonly step: number | undefined
  /** An open time that the others follow from by whole steps, ms UTC. */
  readonly anchor: number
  private readonly months: number

  /** Throws `bad_option` for a 3d grid without an anchor whose symbol has no known listing date. */
  constructor(target: TargetInterval, symbol: SymbolName) {
    const { length } = target
    this.step = 'ms' in length ? length.ms : undefined
    this.months = 'ms' in length ? 0 : length.months
    if (hasListingGrid(target)) this.anchor = target.anchor ?? listingTime(symbol, target.name)
    else this.anchor = 'ms' in length && length.ms % UNIT_MS.w === 0 ? FIRST_MONDAY : 0
  }

  /** When the candle that contains `time` opens; `time` itself if it is infinite. */
  start(time: number): number {
    const { step, anchor } = this
    if (!Number.isFinite(time)) return time
    if (step !== undefined) return anchor + Math.floor((time - anchor) / step) * step
    return monthStart(Math.floor(monthIndex(time) / this.months) * this.months)
  }

  /** When the candle after the one that opens at `start` opens. */
  end(start: number): number {
    return this.step !== undefined ? start + this.step : monthStart(monthIndex(start) + this.months)
  }

  /** The first open time at `time` or later. */
  next(time: number): number {
    const start = this.start(time)
    return start === time ? time : this.end(start)
  }

  /** The number of candles that open at `fromTime` or later and end by `toTime`. */
  count(fromTime: number, toTime: number): number {
    if (!(toTime > fromTime)) return 0
    const [from, to] = [this.next(fromTime), this.start(toTime)]
    const steps = this.step === undefined ? (monthIndex(to) - monthIndex(from)) / this.months : (to - from) / this.step
    return Math.max(0, Math.round(steps))
  }

  /** Milliseconds from the start of the candle that contains `time` to `time`: 0 on the grid. */
  offset(time: number): number {
    return time - this.start(time)
  }
}

/** Whether the listing date of a symbol is known without a candle. */
export function hasListingDate(symbol: SymbolName): boolean {
  return Object.hasOwn(LISTING_DATES, symbol)
}

/** Midnight of a symbol's listing date, ms UTC. `target`: the interval that needs it, for the error. */
function listingTime(symbol: SymbolName, target: string): number {
  if (hasListingDate(symbol)) return parseDate(LISTING_DATES[symbol])
  const message = `${target} candles of ${symbol} are counted from its first 3d candle, which is not known here.`
  const suggestions = [`Download it first: klines download ${symbol} -i 3d, with the same --mirror.`]
  throw new KlinesError('bad_option', message, { suggestions, data: { symbol } })
}

/**
 * The grid of a series of the service. A 3d grid is counted from `openTime` (ms UTC) of any of its candles; without one
 * it is that of the listing date, or any grid for a symbol whose date is not known.
 */
export function buildSeriesGrid({ symbol, interval }: Series, openTime?: number): CandleGrid {
  const anchor = openTime ?? (hasListingDate(symbol) ? undefined : 0)
  return new CandleGrid({ ...parseTargetInterval(interval), anchor }, symbol)
}
