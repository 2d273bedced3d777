import type { Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath } from '../../klines/paths.js'
import type { Series, WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { ALL_TIME, type TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { TreeRules } from '../../trees/tree-rules.js'
import { planWindows } from '../plan.js'
import type { Selection } from '../selection.js'
import { KnownNames } from './known-names.js'
import type { MirrorWriter } from './mirror-writer.js'
import type { SourceCatalogue } from './source-catalogue.js'
import type { SourceContents, WindowFailure, WindowResult } from './window-source.js'

/** What a service has, by its lists, which the mirror keeps. */
export class ServiceContents implements SourceContents {
  /** The startDates of each interval whose list was downloaded. */
  private readonly listed = new Map<Interval, ReadonlySet<string>>()
  private readonly knownNames: KnownNames

  constructor(
    private readonly lists: SourceCatalogue,
    private readonly mirror: Mirror,
    private readonly rules: TreeRules,
    private readonly writer: MirrorWriter,
    /** This machine's clock, ms UTC. */
    private readonly now: () => number,
    private readonly window: (window: WindowRef) => Promise<WindowResult | WindowFailure>,
  ) {
    const fetchNames = async () => (await lists.symbols()).value
    this.knownNames = new KnownNames(symbol => mirror.contents.hasSymbol(symbol), fetchNames, now)
  }

  currentTime(): Promise<number> {
    return this.lists.currentTime()
  }

  async series(selection: Selection, range: TimeRange): Promise<Series[]> {
    await this.writer.prepare()
    return this.lists.select(selection, range, list => this.writer.store(SYMBOLS_PATH, list))
  }

  hasSeries(): boolean {
    return true
  }

  /** Whether a client may request windows of a symbol: decided without a request for each name that strangers make up. */
  hasSymbol(symbol: SymbolName): Promise<boolean> {
    return this.knownNames.has(symbol)
  }

  async symbols(): Promise<readonly SymbolName[]> {
    await this.writer.prepare()
    const list = await this.lists.symbols()
    if (!this.rules.listsMirrored) this.writer.store(SYMBOLS_PATH, list)
    return list.value
  }

  async startDates(interval: Interval): Promise<string[]> {
    await this.writer.prepare()
    const list = await this.lists.startDates(interval)
    this.listed.set(interval, new Set(list.value))
    // The time of its file tells until when the mirror is up to date, whenever the list last changed.
    this.writer.store(startDatesPath(interval), { ...list, mtimeMs: Math.min(list.servedMs, this.now()) })
    return list.value
  }

  /** Whether the service's list lacks a window; false when the list was not downloaded. */
  isUnlisted({ interval, startDate }: WindowRef): boolean {
    return this.listed.get(interval)?.has(startDate) === false
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.contents.startDates(series)
  }

  /** The present: the exchange's clock; of another service and this machine the one that is ahead (it may be years behind). */
  neededUntil(): number {
    return this.writer.clock.latest
  }

  threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    return findThreeDayAnchor(this, { mirror: this.mirror, rules: this.rules }, symbol, this.window)
  }
}

/**
 * Open time of a symbol's first 3d candle, ms UTC. Unless the mirror or the rules of its tree know it, reads the windows of the series
 * up to that candle.
 */
export async function findThreeDayAnchor(
  contents: Pick<SourceContents, 'startDates' | 'neededUntil'>,
  { mirror, rules }: { readonly mirror: Mirror; readonly rules: TreeRules },
  symbol: SymbolName,
  read: (window: WindowRef) => Promise<WindowResult | WindowFailure>,
): Promise<number | undefined> {
  const series: Series = { symbol, interval: '3d' }
  const cached = mirror.windows.firstOpenTime(series)
  if (cached !== undefined || rules.knowsFirstCandle(symbol)) return cached
  const startDates = await contents.startDates('3d')
  for (const window of planWindows(series, startDates, ALL_TIME, contents.neededUntil(series, Infinity))) {
    const result = await read(window)
    if (result.status !== 'failed' && result.batch.length > 0) return result.batch.openTime(0)
  }
  return undefined
}
