import { TimeSpans } from '../klines/audit/time-spans.js'
import { type Interval, nextOpenTime } from '../klines/intervals.js'
import type { TimeRange } from '../klines/time-range.js'
import type { WindowSpan } from '../klines/windows.js'

/**
 * The time of a series about which its windows say something: a candle that is not there is missing. Nothing is known after the
 * last candle, which may be the present or the end of trading, unless a later candle of the symbol shows that trading went on.
 */
export class KnownTime {
  /** Open time of the last candle before the range, ms UTC, if one is cached. */
  before: number | undefined
  /** Open time of the first candle after the range, ms UTC, if one is cached. */
  after: number | undefined
  /** Open time of the last candle in the range that was read, ms UTC. */
  lastOpenTime: number | undefined
  /** The last candles of all series of the symbol. */
  others: readonly WindowSpan[] = []
  /** Start of the first window since the last candle that may lack candles because it was stored too early, ms UTC. */
  private unsettledFrom = Infinity
  private readonly loadedSpans = new TimeSpans()
  private readonly allSpans = new TimeSpans()

  /** `range`: the open times of the candles that are read. */
  constructor(
    private readonly interval: Interval,
    private readonly range: TimeRange,
  ) {}

  /** Adds a window that was read. `isSettled`: it was stored so late that it has all its candles. */
  addLoaded(span: WindowSpan, hasCandles: boolean, isSettled: boolean): void {
    this.loadedSpans.add(span)
    this.allSpans.add(span)
    if (hasCandles) this.unsettledFrom = Infinity
    if (!isSettled) this.unsettledFrom = Math.min(this.unsettledFrom, span.startTime)
  }

  /** Adds a window that is empty without a file. */
  addEmpty(span: WindowSpan): void {
    this.allSpans.add(span)
    this.unsettledFrom = Math.min(this.unsettledFrom, span.startTime)
  }

  /** The windows that were read, as far as something is known about them. */
  get loaded(): WindowSpan[] {
    return this.loadedSpans.within({ fromTime: this.range.fromTime, toTime: this.endTime })
  }

  /** The same with the windows that are empty without a file. */
  get all(): WindowSpan[] {
    return this.allSpans.within({ fromTime: this.range.fromTime, toTime: this.endTime })
  }

  /** The span of the last candle that was read, which may open after the range; undefined when there is none. */
  get lastCandle(): WindowSpan | undefined {
    const startTime = this.after ?? this.lastOpenTime ?? this.before
    return startTime === undefined ? undefined : { startTime, endTime: nextOpenTime(this.interval, startTime) }
  }

  /** Until when a candle after the last one that was read is known to be missing, ms UTC; undefined when none is. */
  get goesOnTo(): number | undefined {
    if (this.after !== undefined) return this.after
    const end = this.lastCandle?.endTime ?? -Infinity
    // The end of a long candle says less than the start of a later one.
    const [latest] = this.others.toSorted((a, b) => b.startTime - a.startTime || a.endTime - b.endTime)
    if (latest === undefined || latest.startTime < end) return undefined
    const goesOnTo = Math.min(latest.endTime, this.unsettledFrom)
    return goesOnTo > end ? goesOnTo : undefined
  }

  private get endTime(): number {
    return Math.min(this.range.toTime, this.goesOnTo ?? this.lastCandle?.endTime ?? -Infinity)
  }
}
