import { planWindows } from '../../download/plan.js'
import { combine, type Selection, selectedIntervals, selectSymbols } from '../../download/selection.js'
import type { SourceContents, WindowFailure, WindowResult } from '../../download/sources/window-source.js'
import type { Interval } from '../../klines/intervals.js'
import { findMissingStartDates, parseStartDates } from '../../klines/lists.js'
import { startDatesPath } from '../../klines/paths.js'
import type { Series, WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { ALL_TIME, type TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { Tree } from '../tree/tree.js'
import type { UpstreamFetches } from './upstream-fetches.js'

/** What the service behind a server has. The symbols are checked before: it may have what the mirror lacks. */
export class UpstreamContents implements SourceContents {
  constructor(
    private readonly mirror: Mirror,
    private readonly tree: Tree,
    private readonly fetches: UpstreamFetches,
    /** The present, ms UTC. */
    private readonly now: number,
    private readonly read: (window: WindowRef) => Promise<WindowResult | WindowFailure>,
  ) {}

  async currentTime(): Promise<number> {
    return this.now
  }

  async series(selection: Selection): Promise<Series[]> {
    return combine(selectSymbols(selection, []), selectedIntervals(selection))
  }

  hasSeries(): boolean {
    return true
  }

  async startDates(interval: Interval): Promise<string[]> {
    const { body, warning } = await this.tree.file(startDatesPath(interval))
    this.fetches.warning ??= warning
    const list = parseStartDates(body.bytes, interval)
    return [...list, ...findMissingStartDates(list, interval, { known: [], now: this.now })].sort()
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.contents.startDates(series)
  }

  neededUntil(): number {
    return this.now
  }

  async coveredFrom(_series: Series, { fromTime }: TimeRange): Promise<number> {
    return fromTime
  }

  /** Fetches the windows of the 3d series up to the first candle, unless the mirror or the calendar knows it. */
  async threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    const series: Series = { symbol, interval: '3d' }
    const cached = this.mirror.windows.firstOpenTime(series)
    if (cached !== undefined || this.mirror.rules.knowsFirstCandle(symbol)) return cached
    for (const window of planWindows(series, await this.startDates('3d'), ALL_TIME, this.now)) {
      if (await this.fetches.fetch(window)) continue
      const result = await this.read(window)
      if (result.status !== 'failed' && result.batch.length > 0) return result.batch.openTime(0)
    }
    return undefined
  }
}
