import { FetchError } from '../../http/fetch-error.js'
import type { Fetched } from '../../http/fetched.js'
import type { WindowService } from '../../http/window-service.js'
import { diffBatches } from '../../klines/batch/diff.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { isKlinesError } from '../../klines/errors.js'
import type { Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import { type Series, type WindowRef, windowName } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { ALL_TIME, type TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CachedWindow } from '../../mirror/mirror-windows.js'
import { findRules } from '../../trees/find-rules.js'
import type { TreeRules } from '../../trees/tree-rules.js'
import { isLate, SECOND_ANSWER_MS, type WindowTimes } from '../../trees/window-ends.js'
import { withoutStop } from '../errors.js'
import { planWindows } from '../plan.js'
import type { RequestCost } from '../request-cost.js'
import { type Selection, selectedIntervals, takesSymbol } from '../selection.js'
import { CacheWriter, type CacheWriterOptions } from './cache-writer.js'
import { checkOrigin } from './check-origin.js'
import { Completeness } from './completeness.js'
import { ServiceClock } from './service-clock.js'
import type { SourceLists } from './source-lists.js'
import { WindowRecorder } from './window-recorder.js'
import type {
  CacheState,
  CountedWindow,
  WindowFailure,
  WindowResult,
  WindowSource,
  WindowStatus,
} from './window-source.js'

/** What decides whether a cached window needs a request. */
type CachedState = Pick<CachedWindow, 'final' | 'times'>

/** How a `ServiceSource` downloads. */
export interface ServiceSourceOptions extends CacheWriterOptions {
  /** Download final windows again too. */
  readonly refresh: boolean
  /** The present, ms UTC. */
  readonly now: () => number
  readonly signal: AbortSignal
}

/**
 * Windows from the service through a mirror: final ones are read, others revalidated, missing and corrupt ones fetched. A
 * source requests every window at most once.
 */
export class ServiceSource implements WindowSource {
  readonly offline = false
  readonly advice = 'The mirror keeps what was downloaded; run the same command again to download the rest.'
  readonly baseUrl: string
  readonly rules: TreeRules
  private readonly cacheWriter: CacheWriter
  private readonly completeness: Completeness
  private readonly recorder: WindowRecorder
  /** The startDates of each interval whose list was downloaded. */
  private readonly listed = new Map<Interval, ReadonlySet<string>>()
  private readonly clock: ServiceClock
  private preparing: Promise<void> | undefined

  /** Throws `mirror_mismatch` when the mirror belongs to another service. */
  constructor(
    readonly service: WindowService,
    private readonly lists: SourceLists,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.baseUrl = service.fetcher.baseUrl
    this.rules = findRules(this.baseUrl)
    this.clock = new ServiceClock(
      options.now,
      options.warn,
      this.rules.rendersAnswers ? Number.NEGATIVE_INFINITY : options.now(),
    )
    this.cacheWriter = new CacheWriter(mirror, options)
    this.completeness = new Completeness(mirror, this.cacheWriter)
    this.recorder = new WindowRecorder(mirror, this.cacheWriter, options.now)
    mirror.upkeep.checkBase(this.baseUrl)
  }

  /**
   * Checks before the first request that the mirror can be written, and removes temp files of dead processes. A mirror that
   * does not say its source is compared with this one first. Throws `mirror_unusable`, `linked_path`, `mirror_mismatch` and
   * `unreachable`.
   */
  prepare(): Promise<void> {
    this.preparing ??= this.openMirror().catch(error => {
      this.preparing = undefined
      throw error
    })
    return this.preparing
  }

  private async openMirror(): Promise<void> {
    const { mirror, options } = this
    if (!options.readOnly) mirror.upkeep.refuseLinks()
    if (!options.readOnly && mirror.upkeep.readMeta(options.warn) === undefined && mirror.files.exists) {
      await checkOrigin(mirror, this.service, options.signal)
    }
    this.cacheWriter.open(this.baseUrl, options.now())
  }

  get mirrorRoot(): string {
    return this.mirror.root
  }

  get isStored(): boolean {
    return this.cacheWriter.isStoring
  }

  get traffic(): { requests: number; bytes: number } {
    const { requests, wireBytes } = this.service.fetcher
    return { requests, bytes: wireBytes }
  }

  present(): Promise<number> {
    return this.lists.present()
  }

  /** Throws `linked_path` for a link among the folders and windows of the selection, also in a run that stores nothing. */
  async series(selection: Selection, range: TimeRange): Promise<Series[]> {
    this.mirror.upkeep.refuseLinks({
      intervals: selectedIntervals(selection),
      isWritten: symbol => takesSymbol(selection, symbol),
    })
    await this.prepare()
    return this.lists.select(selection, range, list => this.storeList(SYMBOLS_PATH, list))
  }

  /** Whether windows of a symbol may be requested, as `SourceLists` says. */
  hasSymbol(symbol: SymbolName): Promise<boolean> {
    return this.lists.hasSymbol(symbol)
  }

  async startDates(interval: Interval): Promise<string[]> {
    await this.prepare()
    const list = await this.lists.startDates(interval)
    this.listed.set(interval, new Set(list.value))
    // The time of its file tells until when the mirror is up to date, whenever the list last changed.
    this.storeList(startDatesPath(interval), { ...list, mtimeMs: Math.min(list.servedMs, this.options.now()) })
    return list.value
  }

  async symbols(): Promise<readonly SymbolName[]> {
    await this.prepare()
    const list = await this.lists.symbols()
    if (!this.rules.listsMirrored) this.storeList(SYMBOLS_PATH, list)
    return list.value
  }

  /** Stores the list of symbols again: the service's, or that of what the mirror has. */
  async repairSymbols(): Promise<void> {
    if (!this.rules.listsMirrored) {
      await this.symbols()
      return
    }
    await this.prepare()
    const bytes = Buffer.from(JSON.stringify(this.mirror.contents.symbols()))
    this.cacheWriter.store(SYMBOLS_PATH, bytes, this.options.now())
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.contents.startDates(series)
  }

  /** The present: the exchange's clock; of another service and this machine the one that is ahead (it may be years behind). */
  horizon(): number {
    return this.clock.latest
  }

  hasSeries(): boolean {
    return true
  }

  async coveredFrom(_series: Series, { fromTime }: TimeRange): Promise<number> {
    return fromTime
  }

  limitsMs(series: Series, windows: readonly WindowRef[]): ReadonlyMap<string, number> {
    const cached = new Set(this.options.refresh ? [] : this.cachedStartDates(series))
    const isNeeded = (window: WindowRef) =>
      !cached.has(window.startDate) && !this.cacheWriter.isDone(windowPath(window)) && !this.lists.isKnownEmpty(window)
    const { limitMs } = this.windowCost(series)
    return new Map(limitMs === 0 ? [] : windows.filter(isNeeded).map(({ startDate }) => [startDate, limitMs]))
  }

  windowCost({ interval }: Series): RequestCost {
    return this.lists.windowCost(interval)
  }

  /** Downloads the windows of the 3d series up to the first candle, unless the mirror has it or the public service's list of dates. */
  async threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    const series: Series = { symbol, interval: '3d' }
    const cached = this.mirror.windows.firstOpenTime(series)
    if (cached !== undefined || this.rules.knowsFirstCandle(symbol)) return cached
    const startDates = await this.startDates('3d')
    for (const window of planWindows(series, startDates, ALL_TIME, this.horizon())) {
      const { status, ...result } = await this.window(window)
      if ('batch' in result && result.batch.length > 0) return result.batch.openTime(0)
    }
    return undefined
  }

  cacheState(window: WindowRef): CacheState {
    const read = this.mirror.windows.read(window)
    if (read.state !== 'cached') return this.lists.isKnownEmpty(window) ? 'cached' : 'missing'
    if (this.isSettled(window, read)) return 'cached'
    return read.times === undefined ? 'unrecorded' : 'stale'
  }

  isWhole(window: WindowRef): boolean {
    return this.mirror.windows.hasAllCandles(window, this.cacheWriter.inMemory(windowPath(window)))
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const path = windowPath(window)
    const inMemory = this.cacheWriter.inMemory(path)
    if (inMemory) return { window, status: 'cached', batch: decodeWindow(inMemory.bytes, window), size: inMemory.size }
    const cached = this.readCached(window)
    const status = cached && this.settledStatus(window, cached)
    if (status) {
      this.recorder.see(window, cached.batch)
      return { window, status, batch: cached.batch, size: cached.size }
    }
    try {
      return await this.fetchWindow(window, cached)
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      return { window, status: 'failed', reason: withoutName(error.message, window) }
    }
  }

  /** Downloads or revalidates a window and stores what is new, also when it is done in this run. Throws a `FetchError`. */
  async fetchWindow(window: WindowRef, cached: CachedWindow | undefined): Promise<WindowResult> {
    await this.prepare()
    this.completeness.beforeWindow(window, cached !== undefined, this.latest())
    const empty = await this.lists.emptyWindow(window)
    if (empty && cached && cached.batch.length > 0) return this.storeWindow(window, cached, empty)
    if (empty) {
      this.store(windowPath(window), empty)
      this.recorder.record(window, empty, cached)
      return { window, status: 'cached', batch: empty.value, size: empty.bytes.length }
    }
    const isUsable = cached?.times && !this.options.refresh && !this.isAhead(cached.times)
    const since = isUsable ? cached.times?.time : undefined
    const onTheWay = await this.lists.fetchedWindow(window)
    const fetched = onTheWay ?? (await this.service.window(window, since, this.options.signal))
    if (fetched !== 'unmodified') this.checkGrid(window, fetched.bytes)
    const result = this.storeWindow(window, cached, fetched)
    this.recorder.see(window, result.batch)
    return result
  }

  /** Throws a `FetchError` for a 3d window that is not on the grid of the first cached candle. */
  private checkGrid(window: WindowRef, bytes: Buffer): void {
    const anchor = this.mirror.windows.gridAnchor(window)
    if (anchor === undefined) return
    try {
      decodeWindow(bytes, window, anchor)
    } catch (error) {
      if (!isKlinesError(error, 'bad_window')) throw error
      throw new FetchError('invalid', error.message, { cause: error })
    }
  }

  async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const inMemory = this.cacheWriter.inMemory(windowPath(window)) !== undefined
    const read = inMemory ? undefined : this.mirror.windows.borrow(window)
    return read?.state === 'cached'
      ? { window, status: 'cached', batch: read.batch, size: read.size, file: read }
      : this.window(window)
  }

  countedStatus(window: WindowRef, { totals, ...file }: CountedWindow): WindowStatus | undefined {
    const times = this.mirror.windows.timesOf(window, file)
    return this.settledStatus(window, { times, final: this.mirror.windows.isFinal(window, totals, times) })
  }

  async close(): Promise<void> {
    await this.service.fetcher.close()
    this.recorder.recordCandles()
    await this.completeness.restore(this.latest())
  }

  /** The present by the clock that is ahead: a window has rather begun than not. */
  private latest(): number {
    return Math.max(this.horizon(), this.options.now())
  }

  /** The cached window; undefined for a missing one, and with a warning for a corrupt one. */
  readCached(window: WindowRef): CachedWindow | undefined {
    const inMemory = this.cacheWriter.inMemory(windowPath(window))
    if (inMemory) {
      const batch = decodeWindow(inMemory.bytes, window)
      const times = { time: inMemory.mtimeMs, confirmed: inMemory.mtimeMs }
      return {
        ...inMemory,
        state: 'cached',
        batch,
        times,
        final: this.mirror.windows.isFinal(window, batch, times),
      }
    }
    const read = this.mirror.windows.read(window)
    if (read.state === 'cached') return read
    if (read.state === 'corrupt') {
      this.options.warn(`Corrupt in the mirror, downloaded again: ${withoutStop(read.error.message)}.`)
    }
    return undefined
  }

  /** The status of a cached window that is used without a request; undefined for one that needs a request. */
  private settledStatus(window: WindowRef, cached: CachedState): WindowStatus | undefined {
    const path = windowPath(window)
    if (!this.cacheWriter.isDone(path) && !this.isSettled(window, cached)) return undefined
    this.cacheWriter.markDone(path)
    return this.isUnlisted(window) ? 'retained' : 'cached'
  }

  /** Whether a cached window is used without a request. */
  private isSettled(window: WindowRef, cached: CachedState): boolean {
    if (this.isUnlisted(window)) return true
    return (cached.final || this.isTooSoon(window, cached)) && !this.options.refresh && !this.isAhead(cached.times)
  }

  /** Whether a window needs a second answer to be final, and the first one was within the last hour. */
  private isTooSoon(window: WindowRef, { times }: CachedState): boolean {
    if (!this.rules.rendersAnswers || times === undefined) return false
    // The exchange's clock, once it is known.
    const now = Number.isFinite(this.horizon()) ? this.horizon() : this.options.now()
    return isLate(window, times.confirmed) && now - times.time < SECOND_ANSWER_MS
  }

  /** Whether the times of a window are those of a wrong clock. */
  private isAhead(times: WindowTimes | undefined): boolean {
    return times !== undefined && this.clock.isAhead(Math.max(times.time, times.confirmed))
  }

  /** Whether the service's list lacks a window; false when the list was not downloaded. */
  private isUnlisted({ interval, startDate }: WindowRef): boolean {
    return this.listed.get(interval)?.has(startDate) === false
  }

  private storeWindow(
    window: WindowRef,
    cached: CachedWindow | undefined,
    fetched: Fetched<WindowResult['batch']> | 'unmodified',
  ): WindowResult {
    const path = windowPath(window)
    if (fetched === 'unmodified') {
      if (!cached) throw new FetchError('invalid', 'status 304 for a window that is not cached')
      this.cacheWriter.markDone(path)
      return { window, status: 'revalidated', batch: cached.batch, size: cached.size }
    }
    const change = cached && diffBatches(cached.batch, fetched.value)
    if (cached && change && change.lost.length > 0) {
      const lost = `${change.lost.length} cached candle${change.lost.length === 1 ? '' : 's'}`
      this.options.warn(`${windowName(window)}: the service's new version lacks ${lost}; the cached window stays.`)
      this.cacheWriter.markDone(path)
      return { window, status: 'retained', batch: cached.batch, size: cached.size }
    }
    this.store(path, fetched)
    this.recorder.record(window, fetched, cached)
    const list = this.lists.listWith(window.symbol)
    if (list) this.storeList(SYMBOLS_PATH, { ...fetched, bytes: list })
    // Such an answer has what has not changed, too.
    const isSame = this.rules.rendersAnswers && cached !== undefined && fetched.bytes.equals(cached.bytes)
    const status = isSame ? 'revalidated' : 'fetched'
    return { window, status, batch: fetched.value, size: fetched.bytes.length, change }
  }

  private storeList(path: string, list: Fetched<unknown>): void {
    this.completeness.beforeList(path, list.bytes, this.latest())
    this.store(path, list)
  }

  private store(path: string, { bytes, mtimeMs, servedMs, skewMs }: Fetched<unknown>): void {
    this.clock.observe(servedMs, skewMs)
    this.cacheWriter.store(path, bytes, mtimeMs)
  }
}

/** A message of the codec without the name of the window, which reports print anyway. */
export function withoutName(message: string, window: WindowRef): string {
  const name = `${windowName(window)}: `
  return message.startsWith(name) ? message.slice(name.length) : message
}
