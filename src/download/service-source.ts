import { FetchError } from '../http/fetch-error.js'
import { unreachable } from '../http/service-errors.js'
import { diffBatches } from '../klines/batch/diff.js'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../klines/paths.js'
import { type Series, type WindowRef, windowName } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { Fetched, KlinesClient } from '../klines-client/client.js'
import type { CachedWindow, Mirror } from '../mirror/mirror.js'
import { CacheWriter, type CacheWriterOptions } from './cache-writer.js'
import { withoutStop } from './errors.js'
import { combine, type Selection, selectedIntervals } from './selection.js'
import type { WindowFailure, WindowResult, WindowSource } from './window-source.js'

/** How a `ServiceSource` treats what it brings. */
export interface ServiceSourceOptions extends CacheWriterOptions {
  /** Ask again for final windows too, whatever is held. */
  readonly refresh: boolean
  /** The present, ms UTC. */
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Windows from the service through a mirror: final ones are read, others revalidated, absent and broken ones fetched.
 * Every window is asked for at most once in the life of a source.
 */
export class ServiceSource implements WindowSource {
  readonly offline = false
  readonly advice = 'What was brought stays in the mirror; the same command asks only for the rest.'
  private readonly cacheWriter: CacheWriter
  private latest: number

  constructor(
    readonly baseUrl: string,
    readonly service: KlinesClient,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.latest = options.now
    this.cacheWriter = new CacheWriter(mirror, options)
    this.cacheWriter.open(baseUrl, options.now)
  }

  get mirrorRoot(): string {
    return this.mirror.root
  }

  get traffic(): { requests: number; bytes: number } {
    const { requests, wireBytes } = this.service.fetcher
    return { requests, bytes: wireBytes }
  }

  async series(selection: Selection): Promise<Series[]> {
    const symbols = selection.symbols === 'all' ? await this.symbols() : selection.symbols
    return combine(symbols, selectedIntervals(selection))
  }

  async startDates(interval: Interval): Promise<string[]> {
    const list = await this.list(
      `the list of ${interval} start dates`,
      this.service.startDates(interval, this.options.signal),
    )
    // Its file's time says until when the windows of a mirror were asked for, whenever the list last changed.
    this.keep(startDatesPath(interval), { ...list, mtimeMs: list.servedMs })
    return list.value
  }

  /** The present: this machine's clock, or the service's where that is ahead (a clock may be years behind). */
  horizon(): number {
    return this.latest
  }

  hasSeries(): boolean {
    return true
  }

  threeDayAnchor(symbol: SymbolName): number | undefined {
    return this.mirror.firstOpenTime({ symbol, interval: '3d' })
  }

  state(window: WindowRef): 'cached' | 'stale' | 'missing' {
    const readCached = this.mirror.readWindow(window)
    if (readCached.state !== 'cached') return 'missing'
    return readCached.final && !this.options.refresh ? 'cached' : 'stale'
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const path = windowPath(window)
    const remembered = this.cacheWriter.bytesInMemory(path)
    if (remembered) return { window, status: 'cached', batch: decodeWindow(remembered, window) }
    const readCached = this.readCached(window)
    if (readCached && (this.cacheWriter.isDone(path) || (readCached.final && !this.options.refresh))) {
      this.cacheWriter.markDone(path)
      return { window, status: 'cached', batch: readCached.batch }
    }
    try {
      return await this.fetchWindow(window, readCached)
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      return { window, status: 'failed', reason: withoutName(error.message, window) }
    }
  }

  /**
   * Asks the service for a window, whatever is settled, and stores what is new. `held`: what the mirror has of it, if that
   * is worth anything. Throws a `FetchError` too.
   */
  async fetchWindow(window: WindowRef, readCached: CachedWindow | undefined): Promise<WindowResult> {
    const since = this.options.refresh ? undefined : readCached?.mtimeMs
    const fetched = await this.service.window(window, since, this.options.signal)
    return this.settle(window, readCached, fetched)
  }

  async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const inMemory = this.cacheWriter.bytesInMemory(windowPath(window)) !== undefined
    const read = inMemory ? undefined : this.mirror.borrowWindow(window)
    return read?.state === 'cached' ? { window, status: 'cached', batch: read.batch } : this.window(window)
  }

  close(): Promise<void> {
    return this.service.fetcher.close()
  }

  /** What the mirror has of a window; a broken file is warned of and counts as absent. */
  readCached(window: WindowRef): CachedWindow | undefined {
    const readCached = this.mirror.readWindow(window)
    if (readCached.state === 'cached') return readCached
    if (readCached.state === 'corrupt') {
      this.options.warn(`Broken in the mirror, fetched again: ${withoutStop(readCached.error.message)}.`)
    }
    return undefined
  }

  private settle(
    window: WindowRef,
    readCached: CachedWindow | undefined,
    fetched: Fetched<WindowResult['batch']> | 'unmodified',
  ): WindowResult {
    const path = windowPath(window)
    if (fetched === 'unmodified') {
      if (!readCached) throw new FetchError('invalid', 'status 304 for a window that is not held')
      this.cacheWriter.markDone(path)
      return { window, status: 'revalidated', batch: readCached.batch }
    }
    const change = readCached && diffBatches(readCached.batch, fetched.value)
    if (readCached && change && change.lost.length > 0) {
      const lost = change.lost.length === 1 ? '1 candle that is' : `${change.lost.length} candles that are`
      this.options.warn(`${windowName(window)}: the service's new version lacks ${lost} held; the held one is kept.`)
      this.cacheWriter.markDone(path)
      return { window, status: 'retained', batch: readCached.batch }
    }
    this.keep(path, fetched)
    return { window, status: 'fetched', batch: fetched.value, change }
  }

  private keep(path: string, { bytes, mtimeMs, servedMs }: Fetched<unknown>): void {
    this.latest = Math.max(this.latest, servedMs)
    this.cacheWriter.store(path, bytes, mtimeMs)
  }

  /** The service's symbols that this version knows. */
  async symbols(): Promise<readonly SymbolName[]> {
    const list = await this.list('the list of symbols', this.service.symbols(this.options.signal))
    const { symbols, unknown } = list.value
    if (unknown.length > 0) this.options.warn(`Symbols this version does not know are left out: ${unknown.join(', ')}.`)
    if (symbols.length === 0)
      throw new KlinesError('bad_list', 'The list of symbols is refused: it has none that this version knows.', {
        data: { baseUrl: this.baseUrl },
      })
    this.keep(SYMBOLS_PATH, list)
    return symbols
  }

  /** Without its lists a service is as good as not there. A list that is there and wrong is another matter. */
  private async list<T>(what: string, request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      const refused = error.cause instanceof KlinesError && !error.notJson
      if (refused)
        throw new KlinesError('bad_list', error.message, {
          cause: error,
          data: { baseUrl: this.baseUrl },
        })
      throw unreachable(this.baseUrl, `${what}: ${error.message}`, error)
    }
  }
}

/** A codec's message begins with the window's name, which the report of a failed window says anyway. */
export function withoutName(message: string, window: WindowRef): string {
  const name = `${windowName(window)}: `
  return message.startsWith(name) ? message.slice(name.length) : message
}
