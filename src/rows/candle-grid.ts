import { KlinesError } from '../candles/errors.js'
import { addLengths, countLengths, DAY_MS, floorToLength, type Length } from '../candles/intervals.js'
import type { SeriesLabel } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { timeOfDate } from '../candles/windows.js'
import { hasListingGrid, parseTargetInterval, type TargetInterval } from './target-interval.js'

/** 3d candles of the spot market are counted from these days (measured on the service's whole tree), others from their first one. */
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

/** January of the year 0, and Monday, 5 January 1970, ms UTC. */
const [FIRST_MONTH, FIRST_MONDAY] = [Date.parse('0000-01-01'), 4 * DAY_MS]

/** When the candles of a target interval open, ms UTC. */
export class CandleGrid {
  /** Length of a candle in ms; undefined for months. */
  readonly step: number | undefined
  /** An open time that the others follow from by whole candles, ms UTC. */
  readonly anchor: number
  private readonly length: Length

  /** Throws `bad_option` for a 3d grid without an anchor. */
  constructor(target: TargetInterval, symbol: SymbolName) {
    const { length } = target
    this.length = length
    this.step = 'ms' in length ? length.ms : undefined
    if (hasListingGrid(target)) this.anchor = target.anchor ?? unknownAnchor(symbol, target.name)
    else if ('months' in length) this.anchor = FIRST_MONTH
    else this.anchor = length.ms % (7 * DAY_MS) === 0 ? FIRST_MONDAY : 0
  }

  /** When the candle that contains `time` opens; `time` itself if it is infinite. */
  start(time: number): number {
    return Number.isFinite(time) ? floorToLength(this.length, this.anchor, time) : time
  }

  /** When the candle after the one that opens at `start` opens. */
  end(start: number): number {
    return addLengths(this.length, start)
  }

  /** The first open time at `time` or later. */
  next(time: number): number {
    const start = this.start(time)
    return start === time ? time : this.end(start)
  }

  /** The number of candles that open at `fromTime` or later and end by `toTime`. */
  count(fromTime: number, toTime: number): number {
    return toTime > fromTime ? Math.max(0, countLengths(this.length, this.next(fromTime), this.start(toTime))) : 0
  }

  /** Milliseconds from the start of the candle that contains `time` to `time`: 0 on the grid. */
  offset(time: number): number {
    return time - this.start(time)
  }
}

/** Midnight of the listing date of a spot symbol, ms UTC; undefined where it is not known without a candle. */
export function listingTime(symbol: SymbolName): number | undefined {
  return Object.hasOwn(LISTING_DATES, symbol) ? timeOfDate(LISTING_DATES[symbol]) : undefined
}

function unknownAnchor(symbol: SymbolName, target: string): never {
  const message = `${target} candles of ${symbol} are counted from its first 3d candle, which is not known here.`
  const suggestions = [`Download it first: klines download ${symbol} -i 3d, with the same --base-url and --mirror.`]
  throw new KlinesError('bad_option', message, { suggestions, data: { symbol } })
}

/**
 * The grid of a series. A 3d grid is counted from `openTime` (ms UTC) of any of its candles; without one, from the listing
 * date, or from the epoch for a symbol whose date is not known.
 */
export function buildSeriesGrid({ symbol, interval }: SeriesLabel, openTime?: number): CandleGrid {
  const anchor = openTime ?? listingTime(symbol) ?? 0
  return new CandleGrid({ ...parseTargetInterval(interval), anchor }, symbol)
}
