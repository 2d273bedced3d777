import { DAY_MS, FIRST_MONDAY, type Interval, monthIndex, monthStart, nextOpenTime } from './intervals.js'

/** 1 March 2018, ms UTC: from then on every candle of the exchange opens on the grid of its series. */
export const ALWAYS_ON_GRID = Date.UTC(2018, 2)

/**
 * Whether the exchange itself may have a candle off the grid at `openTime`, ms UTC. After some outages before March 2018 it
 * counted from the moment at which it resumed: the hours of BTCUSDT open at 28:14.789 past the hour from 9 to 11 February 2018,
 * and its minutes are some seconds late from 4 to 17 December 2017. Later candles are all on the grid. Source: issues 14 and 77
 * of github.com/binance/binance-public-data.
 */
export function mayBeOffGrid(openTime: number): boolean {
  return openTime < ALWAYS_ON_GRID
}

/** A grid whose candles open every `step` ms, counted from `origin`, ms UTC. */
export interface FixedGrid {
  readonly step: number
  readonly origin: number
}

/** What is wrong with the time in one element of a row. */
export interface TimeFault {
  readonly element: 0 | 6
  readonly what: string
}

/** Which times the candles of one series may have. The first row that is checked sets the grid of a 3d series without an anchor. */
export class CandleTimes {
  /** Undefined for 1M, whose candles have no fixed length, and for 3d, whose grid is that of the symbol. */
  readonly fixedGrid: FixedGrid | undefined
  private anchor: number | undefined

  /** `anchor`: when any candle of a 3d series opens, ms UTC; undefined while none is known. */
  constructor(
    private readonly interval: Interval,
    anchor?: number,
  ) {
    if (interval !== '3d' && interval !== '1M') {
      this.fixedGrid = { step: nextOpenTime(interval, 0), origin: interval === '1w' ? FIRST_MONDAY : 0 }
    }
    if (anchor !== undefined) this.setAnchor(anchor)
  }

  /** The fault of a row's open or close time, ms UTC; undefined for a valid row. */
  findFault(openTime: number, closeTime: number): TimeFault | undefined {
    if (!this.isOnGrid(openTime) && !mayBeOffGrid(openTime)) {
      return { element: 0, what: `${formatInstant(openTime)} is not on the grid of its series, ${this.describeGrid()}` }
    }
    if (closeTime < openTime) {
      return { element: 6, what: `${formatInstant(closeTime)} is before the open time, ${formatInstant(openTime)}` }
    }
    const lastTime = nextOpenTime(this.interval, openTime) - 1
    if (closeTime <= lastTime) return undefined
    return {
      element: 6,
      what: `${formatInstant(closeTime)} is after the end of the candle, ${formatInstant(lastTime)}`,
    }
  }

  private isOnGrid(openTime: number): boolean {
    const { fixedGrid } = this
    if (fixedGrid) return (openTime - fixedGrid.origin) % fixedGrid.step === 0
    if (this.interval === '1M') return openTime === monthStart(monthIndex(openTime))
    this.setAnchor(openTime)
    return this.anchor !== undefined && (openTime - this.anchor) % nextOpenTime('3d', 0) === 0
  }

  /** The candles of a 3d series open at midnight, all three days from its first one. */
  private setAnchor(openTime: number): void {
    if (openTime % DAY_MS === 0) this.anchor ??= openTime
  }

  private describeGrid(): string {
    const { interval, anchor } = this
    if (interval === '1w') return 'whose candles open on Mondays'
    if (interval === '1M') return 'whose candles open on the first of a month'
    if (interval !== '3d') return `whose candles open every ${interval} from midnight on`
    return anchor === undefined
      ? 'whose candles open at midnight'
      : `whose candles open every three days, one of them on ${formatInstant(anchor).slice(0, 10)}`
  }
}

/** `2024-01-31T12:00:00.000Z`; the number itself for a time that has no date. */
export function formatInstant(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
