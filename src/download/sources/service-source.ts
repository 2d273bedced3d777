import { join } from 'node:path'
import { FetchError } from '../../http/fetch-error.js'
import type { Fetched } from '../../http/fetched.js'
import type { WindowService } from '../../http/window-service.js'
import { diffBatches, type WindowChange } from '../../klines/batch/diff.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { isKlinesError } from '../../klines/errors.js'
import { SYMBOLS_PATH, windowPath } from '../../klines/paths.js'
import { type Series, type WindowRef, windowName } from '../../klines/series.js'
import { plural, trimPeriod } from '../../klines/text.js'
import { listChanges } from '../../mirror/changes.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CachedWindow } from '../../mirror/mirror-windows.js'
import { findRules } from '../../trees/find-rules.js'
import type { TreeRules } from '../../trees/tree-rules.js'
import type { WindowTimes } from '../../trees/window-ends.js'
import { findFirst, findNewest } from '../series-ends.js'
import { MirrorWriter } from './mirror-writer.js'
import { ServiceContents } from './service-contents.js'
import type { SourceCatalogue } from './source-catalogue.js'
import type { ServiceSourceOptions } from './source-options.js'
import type {
  CacheState,
  KnownTotals,
  SourceCosts,
  SourceInfo,
  WindowFailure,
  WindowResult,
  WindowSource,
  WindowStatus,
} from './window-source.js'

/** What decides whether a cached window needs a request. */
type CachedState = Pick<CachedWindow, 'final' | 'times'>

/**
 * Windows from the service through a mirror: final ones are read, others revalidated, missing and corrupt ones fetched. A
 * source requests every window at most once.
 */
export class ServiceSource implements WindowSource {
  readonly info: SourceInfo
  readonly contents: ServiceContents
  readonly costs: SourceCosts
  readonly rules: TreeRules
  private readonly writer: MirrorWriter

  /** Throws `mirror_mismatch` when the mirror belongs to another service. */
  constructor(
    readonly service: WindowService,
    private readonly lists: SourceCatalogue,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    const { fetcher } = service
    this.rules = findRules(fetcher.baseUrl)
    const writer = new MirrorWriter(service, mirror, this.rules.rendersAnswers, options)
    this.writer = writer
    this.contents = new ServiceContents(lists, mirror, this.rules, writer, options.now, window => this.window(window))
    this.costs = {
      cacheState: window => this.cacheState(window),
      windowCost: ({ interval }) => lists.windowCost(interval),
      limitsMs: (series, windows) => this.limitsMs(series, windows),
    }
    this.info = {
      baseUrl: fetcher.baseUrl,
      offline: false,
      mirrorRoot: mirror.root,
      get isStored() {
        return writer.cache.isStoring
      },
      get traffic() {
        return { requests: fetcher.requests, bytes: fetcher.wireBytes }
      },
      first: series => lists.firstCandles?.openTime(series) ?? findFirst(mirror, series),
      newest: series => findNewest(mirror, series),
      advice: 'The mirror keeps what was downloaded; run the same command again to download the rest.',
    }
  }

  /** Prepares the mirror before the first request. Throws what `MirrorWriter.prepare` throws. */
  prepare(): Promise<void> {
    return this.writer.prepare()
  }

  async close(): Promise<void> {
    await this.service.fetcher.close()
    this.writer.recorder.recordCandles()
  }

  private cacheState(window: WindowRef): CacheState {
    const read = this.mirror.windows.read(window)
    if (read.state !== 'cached') return this.lists.firstCandles?.isBefore(window) ? 'cached' : 'missing'
    if (this.isSettled(window, read)) return 'cached'
    return read.times === undefined ? 'unrecorded' : 'stale'
  }

  private limitsMs(series: Series, windows: readonly WindowRef[]): ReadonlyMap<string, number> {
    const cached = new Set(this.options.refresh ? [] : this.contents.cachedStartDates(series))
    const isNeeded = (window: WindowRef) =>
      !cached.has(window.startDate) &&
      !this.writer.cache.isDone(windowPath(window)) &&
      !this.lists.firstCandles?.isBefore(window)
    const { limitMs } = this.lists.windowCost(series.interval)
    return new Map(limitMs === 0 ? [] : windows.filter(isNeeded).map(({ startDate }) => [startDate, limitMs]))
  }

  hasAllCandles(window: WindowRef): boolean {
    return this.mirror.windows.hasAllCandles(window, this.writer.cache.inMemory(windowPath(window)))
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const cached = this.readCached(window)
    const status = cached && this.settledStatus(window, cached)
    if (status) {
      this.writer.recorder.see(window, cached.batch)
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
    const empty = await this.lists.firstCandles?.emptyWindow(window)
    if (empty && cached && cached.batch.length > 0) return this.storeWindow(window, cached, empty)
    if (empty) {
      this.writer.store(windowPath(window), empty)
      this.writer.recorder.record(window, empty)
      return { window, status: 'cached', batch: empty.value, size: empty.bytes.length }
    }
    const isUsable = cached?.times && !this.options.refresh && !this.isAhead(cached.times)
    const since = isUsable ? cached.times?.time : undefined
    const onTheWay = await this.lists.firstCandles?.takeFetched(window)
    const fetched = onTheWay ?? (await this.service.window(window, since, this.options.signal))
    if (fetched !== 'unmodified') this.checkGrid(window, fetched.bytes)
    const result = this.storeWindow(window, cached, fetched)
    this.writer.recorder.see(window, result.batch)
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

  async cachedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const inMemory = this.writer.cache.inMemory(windowPath(window)) !== undefined
    const read = inMemory ? undefined : this.mirror.windows.readInPlace(window)
    return read?.state === 'cached'
      ? { window, status: 'cached', batch: read.batch, size: read.size, file: read }
      : this.window(window)
  }

  statusWithoutReading(window: WindowRef, { totals, ...file }: KnownTotals): WindowStatus | undefined {
    const times = this.mirror.windows.timesOf(window, file)
    return this.settledStatus(window, { times, final: this.mirror.windows.isFinal(window, totals, times) })
  }

  /** The cached window; undefined for a missing one, and with a warning for a corrupt one. */
  readCached(window: WindowRef): CachedWindow | undefined {
    const inMemory = this.writer.cache.inMemory(windowPath(window))
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
      this.options.warn(`Corrupt in the mirror, downloaded again: ${trimPeriod(read.error.message)}.`)
    }
    return undefined
  }

  /** The status of a cached window that is used without a request; undefined for one that needs a request. */
  private settledStatus(window: WindowRef, cached: CachedState): WindowStatus | undefined {
    const path = windowPath(window)
    if (!this.writer.cache.isDone(path) && !this.isSettled(window, cached)) return undefined
    this.writer.cache.markDone(path)
    return this.contents.isUnlisted(window) ? 'retained' : 'cached'
  }

  /** Whether a cached window is used without a request. */
  private isSettled(window: WindowRef, cached: CachedState): boolean {
    if (this.contents.isUnlisted(window)) return true
    return cached.final && !this.options.refresh && !this.isAhead(cached.times)
  }

  /** Whether the times of a window are those of a wrong clock. */
  private isAhead(times: WindowTimes | undefined): boolean {
    return times !== undefined && this.writer.clock.isAhead(Math.max(times.time, times.confirmed))
  }

  private storeWindow(
    window: WindowRef,
    cached: CachedWindow | undefined,
    fetched: Fetched<WindowResult['batch']> | 'unmodified',
  ): WindowResult {
    const path = windowPath(window)
    if (fetched === 'unmodified') {
      if (!cached) throw new FetchError('invalid', 'status 304 for a window that is not cached')
      this.writer.cache.markDone(path)
      return { window, status: 'revalidated', batch: cached.batch, size: cached.size }
    }
    const change = cached && diffBatches(cached.batch, fetched.value)
    if (cached && change && change.lost.length > 0) {
      this.options.warn(this.describeKept(window, change))
      this.writer.cache.markDone(path)
      return { window, status: 'retained', batch: cached.batch, size: cached.size }
    }
    const changes = change ? listChanges(window, change, cached?.batch.lastOpenTime, this.options.now()) : []
    this.writer.store(path, fetched, changes)
    this.writer.recorder.record(window, fetched)
    const list = this.lists.updatedSymbolList(window.symbol)
    if (list) this.writer.store(SYMBOLS_PATH, { ...fetched, bytes: list })
    // Such an answer has what has not changed, too.
    const isSame = this.rules.rendersAnswers && cached !== undefined && fetched.bytes.equals(cached.bytes)
    const status = isSame ? 'revalidated' : 'fetched'
    return { window, status, batch: fetched.value, size: fetched.bytes.length, change }
  }

  /** Why a cached window stays, and what of the service's new version is not there because of that. */
  private describeKept(window: WindowRef, { lost, added, changed }: WindowChange): string {
    const kept = `${windowName(window)}: the service's new version lacks ${plural(lost.length, 'cached candle')}; the cached window stays`
    const changedCandles = new Set(changed.map(({ openTime }) => openTime)).size
    const others = [
      ...(added.length > 0 ? [plural(added.length, 'new candle')] : []),
      ...(changedCandles > 0 ? [plural(changedCandles, 'changed candle')] : []),
    ]
    if (others.length === 0) return `${kept}.`
    const file = join(this.mirror.root, windowPath(window))
    return `${kept}, without ${others.join(' and ')}. To take the new version, remove ${file} and download again.`
  }
}

/** A message of the codec without the name of the window, which reports print anyway. */
export function withoutName(message: string, window: WindowRef): string {
  const name = `${windowName(window)}: `
  return message.startsWith(name) ? message.slice(name.length) : message
}
