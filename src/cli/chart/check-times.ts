import { slotAfter } from '../../chart/chart-candle.js'
import { MINUTE_MS } from '../../klines/intervals.js'
import { toTarget } from '../../klines/resample/target-interval.js'
import type { Series } from '../../klines/series.js'

/** How long after its end a candle may be expected, ms: the exchange's are stored 15 s after it. */
const AFTER_CLOSE_MS = 20_000
/** Between two checks for a candle that is late: from one minute, doubled each time, up to an hour. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [MINUTE_MS, 60 * MINUTE_MS]

/** When a service is checked for a new candle of a series: once when it should be there, then less and less often. */
export class CheckTimes {
  private checked: number
  private misses = 0

  /** `openTime`: that of the newest candle; `now`: when it was downloaded; both ms UTC. */
  constructor(
    readonly series: Series,
    public openTime: number,
    now: number,
  ) {
    this.checked = now
  }

  /** When the next check is due, ms UTC. */
  get due(): number {
    const closed = slotAfter(toTarget(this.series.interval), this.openTime, 2) + AFTER_CLOSE_MS
    if (closed > this.checked) return closed
    return this.checked + Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** Math.max(0, this.misses - 1))
  }

  /** Notes a check at `now`, ms UTC, and the open time of the newest candle since then. */
  note(now: number, openTime: number): void {
    this.misses = openTime > this.openTime ? 0 : this.misses + 1
    this.checked = now
    this.openTime = openTime
  }
}
