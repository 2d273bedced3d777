import { approximateLength } from '../../../../klines/intervals.js'
import type { Series } from '../../../../klines/series.js'
import { parseDate, type WindowSpan } from '../../../../klines/windows.js'
import type { SeriesCoverage } from './service.js'

/** The windows that a series may have, ascending, whether they are loaded or not. */
export class WindowList {
  private readonly startTimes: readonly number[]
  private readonly missing: ReadonlySet<string>

  /** `startDates`: `YYYY-MM-DD`. */
  constructor(
    private readonly series: Series,
    { upstream, missingStartDates }: SeriesCoverage,
    private readonly startDates: readonly string[],
  ) {
    this.startTimes = startDates.map(parseDate)
    this.missing = new Set(upstream ? [] : missingStartDates)
  }

  get length(): number {
    return this.startDates.length
  }

  startDate(index: number): string {
    return this.startDates[index]
  }

  /** The span of a window; the last one has no end. */
  time(index: number): WindowSpan {
    return { startTime: this.startTimes[index], endTime: this.startTimes[index + 1] ?? Number.POSITIVE_INFINITY }
  }

  /** Whether a window is known not to be in the mirror, so that it need not be requested. */
  isMissing(index: number): boolean {
    return this.missing.has(this.startDates[index])
  }

  /** The window that contains `time`, ms UTC, or the nearest one. */
  indexOf(time: number): number {
    const after = this.startTimes.findIndex(start => start > time)
    return after === -1 ? this.length - 1 : Math.max(0, after - 1)
  }

  /** The window that is `distance` windows away, negative to the past. Missing ones do not count. */
  indexAway(index: number, distance: number): number {
    const step = Math.sign(distance)
    const end = step < 0 ? 0 : this.length - 1
    let away = index
    for (let left = Math.abs(distance); left > 0 && away !== end; ) {
      away += step
      if (!this.isMissing(away)) left--
    }
    return away
  }

  /** How many windows from `first` to before `end` are not missing. */
  count(first: number, end: number): number {
    return this.startDates.slice(first, end).filter(date => !this.missing.has(date)).length
  }

  /** About how many candles a window has. */
  get windowCandles(): number {
    const [first = 0, second = 0] = this.startTimes
    return Math.max(1, (second - first) / approximateLength(this.series.interval))
  }
}
