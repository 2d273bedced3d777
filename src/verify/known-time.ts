import { TimeSpans } from '../klines/audit/time-spans.js'
import { type Interval, nextOpenTime } from '../klines/intervals.js'
import type { TimeRange } from '../klines/time-range.js'
import type { WindowSpan } from '../klines/windows.js'

/** The span of the last candle of a series. */
export interface LastCandle extends WindowSpan {
  readonly interval: Interval
}

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
  others: readonly LastCandle[] = []
  /** From when on windows since the last candle may lack candles because they were stored too early, ms UTC. */
  private unsettledFrom = Infinity
  private readonly loadedSpans = new TimeSpans()
  private readonly allSpans = new TimeSpans()

  /** `range`: the open times of the candles that are read. */
  constructor(
    private readonly interval: Interval,
    private readonly range: TimeRange,
  ) {}

  /** Adds a window that was read. `settledUntil`: it has all candles that closed by then, ms UTC. */
  addLoaded(span: WindowSpan, hasCandles: boolean, settledUntil: number): void {
    this.loadedSpans.add(span)
    this.allSpans.add(span)
    if (hasCandles) this.unsettledFrom = Infinity
    if (settledUntil >= span.endTime) return
    this.unsettledFrom = Math.min(this.unsettledFrom, Math.max(span.startTime, settledUntil))
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
  get lastCandle(): LastCandle | undefined {
    const { interval } = this
    const startTime = this.after ?? this.lastOpenTime ?? this.before
    return startTime === undefined ? undefined : { interval, startTime, endTime: nextOpenTime(interval, startTime) }
  }

  /** Until when a candle after the last one that was read is known to be missing, ms UTC; undefined when none is. */
  get tradedUntil(): number | undefined {
    if (this.after !== undefined) return this.after
    const { latest } = this
    if (latest === undefined) return undefined
    const tradedUntil = Math.min(latest.endTime, this.unsettledFrom)
    return tradedUntil > (this.lastCandle?.endTime ?? -Infinity) ? tradedUntil : undefined
  }

  /**
   * The latest candle of the symbol if it shows that trading went on for a whole candle after the last one that was read, without a
   * word about whether that one is missing: the series may be older. Undefined for a series without candles.
   */
  get laterCandle(): LastCandle | undefined {
    const { latest, lastCandle, interval, range } = this
    if (latest === undefined || lastCandle === undefined) return undefined
    const next = nextOpenTime(interval, lastCandle.endTime)
    // Then it is missing, and reported as that.
    if ((this.tradedUntil ?? -Infinity) >= next) return undefined
    return next <= Math.min(latest.endTime, range.toTime) ? latest : undefined
  }

  /** The latest of the last candles, if it opens after the last one that was read. */
  private get latest(): LastCandle | undefined {
    // The end of a long candle says less than the start of a later one.
    const [latest] = this.others.toSorted((a, b) => b.startTime - a.startTime || a.endTime - b.endTime)
    return latest === undefined || latest.startTime < (this.lastCandle?.endTime ?? -Infinity) ? undefined : latest
  }

  private get endTime(): number {
    return Math.min(this.range.toTime, this.tradedUntil ?? this.lastCandle?.endTime ?? -Infinity)
  }
}
