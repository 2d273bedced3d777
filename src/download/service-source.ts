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

/** How a `ServiceSource` downloads. */
export interface ServiceSourceOptions extends CacheWriterOptions {
  /** Download final windows again too. */
  readonly refresh: boolean
  /** Whether the server runs in this process. */
  readonly isLocal?: boolean
  /** The present, ms UTC. */
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Windows from the service through a mirror: final ones are read, others revalidated, missing and corrupt ones fetched. A
 * source requests every window at most once.
 */
export class ServiceSource implements WindowSource {
  readonly offline = false
  readonly advice = 'What was brought stays in the mirror; the same command asks only for the rest.'
  readonly baseUrl: string
  private readonly cacheWriter: CacheWriter
  private latest: number
  private isPrepared = false

  /** Throws `mirror_mismatch` when the mirror belongs to another service. */
  constructor(
    readonly service: KlinesClient,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.baseUrl = service.fetcher.baseUrl
    this.latest = options.now
    this.cacheWriter = new CacheWriter(mirror, options)
    mirror.checkBase(this.baseUrl)
    if (options.isLocal && mirror.exists && mirror.readMeta() === undefined) throw unknownMirror(mirror, this.baseUrl)
  }

  /** Creates the mirror before the first request, and removes temp files of dead processes. Throws `mirror_unusable`. */
  prepare(): void {
    if (!this.isPrepared) this.cacheWriter.open(this.baseUrl, this.options.now)
    this.isPrepared = true
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
    this.prepare()
    const list = await this.list(
      `the list of ${interval} start dates`,
      this.service.startDates(interval, this.options.signal),
    )
    // The time of its file tells until when the mirror is up to date, whenever the list last changed.
    this.store(startDatesPath(interval), { ...list, mtimeMs: list.servedMs })
    return list.value
  }

  /** The present: this machine's clock, or the service's when that is ahead (a clock may be years behind). */
  horizon(): number {
    return this.latest
  }

  hasSeries(): boolean {
    return true
  }

  threeDayAnchor(symbol: SymbolName): number | undefined {
    return this.mirror.firstOpenTime({ symbol, interval: '3d' })
  }

  cacheState(window: WindowRef): 'cached' | 'stale' | 'missing' {
    const read = this.mirror.readWindow(window)
    if (read.state !== 'cached') return 'missing'
    return read.final && !this.options.refresh ? 'cached' : 'stale'
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const path = windowPath(window)
    const inMemory = this.cacheWriter.bytesInMemory(path)
    if (inMemory) return { window, status: 'cached', batch: decodeWindow(inMemory, window) }
    const cached = this.readCached(window)
    if (cached && (this.cacheWriter.isDone(path) || (cached.final && !this.options.refresh))) {
      this.cacheWriter.markDone(path)
      return { window, status: 'cached', batch: cached.batch }
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
    this.prepare()
    const since = this.options.refresh ? undefined : cached?.mtimeMs
    const fetched = await this.service.window(window, since, this.options.signal)
    return this.storeWindow(window, cached, fetched)
  }

  async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const inMemory = this.cacheWriter.bytesInMemory(windowPath(window)) !== undefined
    const read = inMemory ? undefined : this.mirror.borrowWindow(window)
    return read?.state === 'cached' ? { window, status: 'cached', batch: read.batch } : this.window(window)
  }

  close(): Promise<void> {
    return this.service.fetcher.close()
  }

  /** The cached window; undefined for a missing one, and with a warning for a corrupt one. */
  readCached(window: WindowRef): CachedWindow | undefined {
    const read = this.mirror.readWindow(window)
    if (read.state === 'cached') return read
    if (read.state === 'corrupt') {
      this.options.warn(`Broken in the mirror, fetched again: ${withoutStop(read.error.message)}.`)
    }
    return undefined
  }

  private storeWindow(
    window: WindowRef,
    cached: CachedWindow | undefined,
    fetched: Fetched<WindowResult['batch']> | 'unmodified',
  ): WindowResult {
    const path = windowPath(window)
    if (fetched === 'unmodified') {
      if (!cached) throw new FetchError('invalid', 'status 304 for a window that is not held')
      this.cacheWriter.markDone(path)
      return { window, status: 'revalidated', batch: cached.batch }
    }
    const change = cached && diffBatches(cached.batch, fetched.value)
    if (cached && change && change.lost.length > 0) {
      const lost = change.lost.length === 1 ? '1 candle that is' : `${change.lost.length} candles that are`
      this.options.warn(`${windowName(window)}: the service's new version lacks ${lost} held; the held one is kept.`)
      this.cacheWriter.markDone(path)
      return { window, status: 'retained', batch: cached.batch }
    }
    this.store(path, fetched)
    return { window, status: 'fetched', batch: fetched.value, change }
  }

  private store(path: string, { bytes, mtimeMs, servedMs }: Fetched<unknown>): void {
    this.latest = Math.max(this.latest, servedMs)
    this.cacheWriter.store(path, bytes, mtimeMs)
  }

  /** Downloads the service's symbols that this version knows. Throws `bad_list` and `unreachable`. */
  async symbols(): Promise<readonly SymbolName[]> {
    this.prepare()
    const list = await this.list('the list of symbols', this.service.symbols(this.options.signal))
    const { symbols, unknown } = list.value
    if (unknown.length > 0) this.options.warn(`Symbols this version does not know are left out: ${unknown.join(', ')}.`)
    if (symbols.length === 0)
      throw new KlinesError('bad_list', 'The list of symbols is refused: it has none that this version knows.', {
        data: { baseUrl: this.baseUrl },
      })
    this.store(SYMBOLS_PATH, list)
    return symbols
  }

  /** A service without its lists counts as unreachable; a list with wrong contents is `bad_list`. */
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

/** A message of the codec without the name of the window, which reports print anyway. */
export function withoutName(message: string, window: WindowRef): string {
  const name = `${windowName(window)}: `
  return message.startsWith(name) ? message.slice(name.length) : message
}

/** Synthetic sample data must not be mixed into candles of an exchange. */
function unknownMirror({ root }: Mirror, name: string): KlinesError {
  return new KlinesError('mirror_mismatch', `${root} holds candles of an unknown address, not of ${name}.`, {
    suggestions: ['Name another folder with `mirror`.'],
  })
}
