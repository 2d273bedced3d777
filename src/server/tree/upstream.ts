import { LRUCache } from 'lru-cache'
import type { FileMemory } from '../../download/sources/cache-writer.js'
import type { ServiceSource } from '../../download/sources/service-source.js'
import { SETTLING_MS } from '../../exchange-client/closed-rows.js'
import type { FileSnapshot } from '../../fs/read-file.js'
import { FetchError } from '../../http/fetch-error.js'
import { QUICK_POLICY, type RetryPolicy } from '../../http/retry.js'
import { isKlinesError, type KlinesError } from '../../klines/errors.js'
import { DAY_MS, type Interval, nextOpenTime } from '../../klines/intervals.js'
import type { TreeEntry } from '../../klines/paths.js'
import type { SymbolName } from '../../klines/symbols.js'
import { HttpError, plainError } from '../http/error.js'
import { SourcePool } from './source-pool.js'

/**
 * A client waits: two tries of five seconds unless `retries` and `timeout` say otherwise, and a Retry-After of the service is
 * passed on to the client instead of waited out.
 */
export const UPSTREAM_POLICY: RetryPolicy = { ...QUICK_POLICY, maxRetryAfterMs: 0 }

/** When a window was fetched, by this machine's clock, and by the service's; ms UTC. */
interface Fetch {
  readonly fetchedMs: number
  readonly servedMs: number
}

/** Memory for files that the mirror cannot store, bytes. */
const MEMORY_BYTES = 32 * 1024 * 1024

/**
 * Opens the service with its mirror, and a memory for what the mirror cannot store. Called again when the previous source has
 * stopped after too many failures.
 */
export type OpenSource = (memory: FileMemory) => Promise<ServiceSource>

/**
 * The service behind a server: fetches files into the mirror, with one request a file however many clients wait for it, and
 * sends no request until the Retry-After time of the service has passed.
 */
export class Upstream {
  /** Fetched files that the mirror could not store, by path; the oldest are dropped. */
  readonly memory = new LRUCache<string, FileSnapshot>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ size }) => size + 1024,
  })
  /** The latest fetch of each window. */
  private readonly fetches = new LRUCache<string, Fetch>({ max: 10_000 })
  private readonly sources: SourcePool
  private readonly pending = new Map<string, Promise<void>>()
  /** No requests before this time, ms UTC. */
  private retryTime = 0
  /** How long that was when the service said so, ms: the clock may be set back. */
  private retryMs = 0

  constructor(
    open: OpenSource,
    private readonly now: () => number = Date.now,
  ) {
    this.sources = new SourcePool(() => open(this.memory))
  }

  /**
   * Fetches the current version of a file into the mirror, or into memory when the mirror cannot be written. A cached version
   * is revalidated, unless it `isCorrupt`. Throws `HttpError`: 404 the service has no such file, 502 its
   * response was invalid or it is unreachable, 503 it limits requests, 504 it timed out.
   */
  fetch(path: string, entry: TreeEntry, isCorrupt: boolean): Promise<void> {
    const shared = this.pending.get(path)
    if (shared) return shared
    const started = this.request(source => this.fetchIfNeeded(source, path, entry, isCorrupt)).finally(() =>
      this.pending.delete(path),
    )
    this.pending.set(path, started)
    return started
  }

  /** The service's present, ms UTC: of the exchange its clock, with one request at most. Throws like `fetch`. */
  currentTime(): Promise<number> {
    return this.request(source => source.contents.currentTime())
  }

  /** Whether the service has a symbol, with few requests. Throws like `fetch`. */
  hasSymbol(symbol: SymbolName): Promise<boolean> {
    return this.request(source => source.contents.hasSymbol(symbol))
  }

  /**
   * Opens the source at once, so that a wrong configuration fails early. Throws what `open` throws. A service that limits requests
   * is asked later: until then the mirror is served.
   */
  async start(): Promise<void> {
    try {
      await this.sources.use(source => source.prepare())
    } catch (error) {
      if (!isKlinesError(error, 'rate_limited')) throw error
      this.waitUntil(error)
    }
  }

  /** Closes every source that was opened. */
  close(): Promise<void> {
    return this.sources.close()
  }

  private async request<T>(work: (source: ServiceSource) => Promise<T>): Promise<T> {
    if (this.waitMs > this.retryMs) this.retryTime = this.now() + this.retryMs
    const { waitMs } = this
    // A source that is refused for a time sends no request meanwhile either, and still decides what needs none.
    if (waitMs > 0 && !(await this.sources.isRefusedForATime())) throw serviceUnavailable(waitMs)
    try {
      return await this.sources.use(work)
    } catch (error) {
      if (isKlinesError(error, 'rate_limited')) this.waitUntil(error)
      throw toHttpError(error, this.waitMs)
    }
  }

  /** Ms; not above 0 when requests may be sent. */
  private get waitMs(): number {
    return this.retryTime - this.now()
  }

  private waitUntil({ data: { until = '' } }: KlinesError<'rate_limited'>): void {
    this.retryTime = Date.parse(until)
    this.retryMs = this.waitMs
  }

  /** A window that is rendered for each answer is fetched once for each candle that closes. */
  private async fetchIfNeeded(
    source: ServiceSource,
    path: string,
    entry: TreeEntry,
    isCorrupt: boolean,
  ): Promise<void> {
    const last = this.fetches.get(path)
    const isCurrent = last && entry.kind === 'window' && !hasNewCandle(entry.window.interval, last, this.now())
    if (source.rules.rendersAnswers && isCurrent && !isCorrupt && source.readCached(entry.window)) return
    await fetchEntry(source, entry, isCorrupt)
    this.fetches.set(path, { fetchedMs: this.now(), servedMs: source.contents.neededUntil() })
  }
}

async function fetchEntry(source: ServiceSource, entry: TreeEntry, isCorrupt: boolean): Promise<void> {
  if (entry.kind === 'symbols') await source.contents.symbols()
  else if (entry.kind === 'startDates') await source.contents.startDates(entry.interval)
  else if (!source.rules.mayHave(entry.window)) throw noSuchFile()
  else {
    const cached = isCorrupt ? undefined : source.readCached(entry.window)
    await source.fetchWindow(entry.window, cached)
  }
}

/**
 * Whether a candle may have closed since a window was fetched, by the exchange's clock: readers of one window must not spend its
 * limit. `now`: this machine's clock, ms UTC.
 */
function hasNewCandle(interval: Interval, { fetchedMs, servedMs }: Fetch, now: number): boolean {
  // Longer candles end with a day too.
  const step = Math.min(nextOpenTime(interval, 0), DAY_MS)
  const servedNow = servedMs + (now - fetchedMs)
  const [before, after] = [servedMs, servedNow].map(time => Math.floor((time - SETTLING_MS) / step))
  return after !== before
}

/** Converts a failure of the service to an `HttpError`; returns other errors unchanged. */
function toHttpError(error: unknown, waitMs: number): unknown {
  if (isKlinesError(error, 'rate_limited')) return serviceUnavailable(waitMs)
  // The list lacks what is known, or has no symbol that is: the previous list is served, with this as a warning.
  const isRefused =
    isKlinesError(error, 'incomplete') || (isKlinesError(error, 'bad_list') && error.cause === undefined)
  if (isRefused) return new HttpError(502, error.message)
  const failure = error instanceof FetchError ? error : (error as Error).cause
  if (isKlinesError(error, 'unreachable') && error.cause === undefined) return new HttpError(502, error.message)
  if (!(failure instanceof FetchError)) return isKlinesError(error, 'unreachable') ? plainError(502) : error
  if (failure.status === 404) return noSuchFile()
  if (failure.timedOut) return new HttpError(504, 'The service behind this server did not answer in time.')
  return new HttpError(502, `The service behind this server failed: ${failure.message}.`)
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'The service has no such file.')
}

function serviceUnavailable(waitMs: number): HttpError {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  const message = `The service behind this server limits requests. Try again in ${seconds} s.`
  return new HttpError(503, message, { headers: { 'retry-after': seconds } })
}
