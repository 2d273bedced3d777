import type { Kernel } from '../klines/kernel/kernel.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import { formatDate } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { EMPTY_WINDOW_BYTES } from '../mirror/mirror-windows.js'

/** The cached candles next to some windows of a series: they show that the series did not begin or end there. */
export class NeighbourCandles {
  constructor(
    private readonly mirror: Mirror,
    private readonly series: Series,
    private readonly kernel: Kernel,
  ) {}

  /** Open time of the last candle in the windows before `startDate`, ms UTC; undefined when none is cached. */
  lastBefore(startDate: string): number | undefined {
    const earlier = this.mirror.contents.startDates(this.series).filter(date => date < startDate)
    return this.firstFound(earlier.reverse())?.lastOpenTime
  }

  /** Open time of the first candle in the windows after `startDate` that start by `neededUntil`, ms UTC; undefined when none is cached. */
  firstAfter(startDate: string, neededUntil: number): number | undefined {
    const last = formatDate(neededUntil)
    const later = this.mirror.contents.startDates(this.series).filter(date => date > startDate && date <= last)
    return this.firstFound(later)?.firstOpenTime
  }

  /** The candles of the first of these windows that has any; a corrupt one says nothing. */
  private firstFound(startDates: readonly string[]) {
    const { mirror, series, kernel } = this
    for (const startDate of startDates) {
      const window = windowOf(series, startDate)
      if (mirror.files.size(windowPath(window)) <= EMPTY_WINDOW_BYTES) continue
      const read = mirror.windows.borrow(window, kernel)
      if (read.state !== 'cached' || read.batch.length === 0) continue
      return { firstOpenTime: read.batch.openTime(0), lastOpenTime: read.batch.lastOpenTime }
    }
    return undefined
  }
}
