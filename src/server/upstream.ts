import { isKlinesError, KlinesError } from '../candles/errors.js'
import { DAY_MS, HOUR_MS, type Interval, MINUTE_MS, nextOpenTime } from '../candles/intervals.js'
import { type TreeEntry, windowPath } from '../candles/paths.js'
import type { WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { trimPeriod } from '../candles/text.js'
import { firstExchangeStartDate } from '../candles/windows.js'
import { needsFirstCandle } from '../engine/find-windows.js'
import { fetchStartDates, fetchSymbols } from '../engine/lists.js'
import { refreshWindow } from '../engine/refresh.js'
import type { Run } from '../engine/run.js'
import { SETTLING_MS } from '../sources/closed-rows.js'
import { InvalidSymbolError } from '../sources/exchange-api.js'
import { FetchError } from '../sources/fetch-error.js'
import { QUICK_POLICY, type RetryPolicy } from '../sources/retry.js'
import type { Source } from '../sources/source.js'
import { HttpError } from './errors.js'
import type { ServedMirror } from './served-mirror.js'

/**
 * A client waits: two tries of five seconds unless `retries` and `timeout` say otherwise, and a Retry-After of the service is
 * passed on to the client instead of waited out.
 */
export const UPSTREAM_POLICY: RetryPolicy = { ...QUICK_POLICY, maxRetryAfterMs: 0 }

export type ListEntry = Exclude<TreeEntry, { kind: 'window' }>
/** Opens a run with the service as its source. Called again when the previous one has stopped after too many failures. */
export type OpenUpstream = () => Promise<Run<Source>>

/**
 * The service behind a server: fetches files into the mirror, with one request a file however many clients wait for it. All methods
 * throw `HttpError`: 404 the service has no such file, 502 its response was invalid or it is unreachable, 503 it limits requests (and gets
 * none until its time), 504 it timed out.
 */
export class Upstream {
  private current: Promise<Run<Source>> | undefined
  private readonly pending = new Map<string, Promise<unknown>>()
  private symbols: Promise<readonly SymbolName[]> = Promise.resolve([])
  /** When the symbols are asked for again, ms UTC. */
  private symbolsUntil = 0

  constructor(
    private readonly open: OpenUpstream,
    private readonly mirror: ServedMirror,
    private readonly now: () => number,
  ) {}

  /** Makes a window current, in the mirror or in memory. */
  refresh(window: WindowRef): Promise<void> {
    return this.share(`refresh ${windowPath(window)}`, async run => {
      const { source, signal } = run
      if (source.rules.kind === 'exchange') {
        if (window.startDate < firstExchangeStartDate(window.interval)) throw failed('', true)
        if (needsFirstCandle([window], run)) await source.firstCandle?.(window, signal)
      }
      const result = await refreshWindow(run, window)
      if (result.status === 'failed') throw failed(result.reason, result.isAbsent, result.timedOut)
    })
  }

  refreshList(entry: ListEntry): Promise<void> {
    return this.share(entry.kind === 'symbols' ? entry.kind : entry.interval, async run => {
      if (entry.kind === 'startDates') return void (await fetchStartDates(run, entry.interval))
      const { gone } = await fetchSymbols(run)
      if (gone.length > 0) throw new HttpError(502, `The service behind this server lists ${gone.join(', ')} no more.`)
    })
  }

  /** Whether the mirror or the service has a symbol, with one request an hour at most, and after a failed one in five minutes. */
  async knows(symbol: SymbolName): Promise<boolean> {
    if (this.mirror.knows(symbol)) return true
    if (this.now() >= this.symbolsUntil) {
      this.symbolsUntil = this.now() + HOUR_MS
      this.symbols = this.share('names', async run => (await fetchSymbols({ ...run, readOnly: true })).names)
      this.symbols.catch(() => (this.symbolsUntil = this.now() + 5 * MINUTE_MS))
    }
    return (await this.symbols).includes(symbol)
  }

  /** Runs work over the mirror with the service as its source. */
  async use<T>(work: (run: Run<Source>) => Promise<T>): Promise<T> {
    const run = await this.take()
    const { source, signal } = run
    let fault: FetchError | undefined
    /** Windows that others wait for are fetched once. After a failure the service is not asked for another one. */
    const fetch: Source['fetch'] = async (window, since) => {
      if (fault) throw fault
      const isExchange = source.rules.kind === 'exchange'
      if (isExchange && since !== undefined && !hasNewCandle(window.interval, since, this.now()))
        return { rendered: since, asked: since }
      try {
        return await this.once(windowPath(window), () => source.fetch(window, since, signal))
      } catch (error) {
        const cause = isKlinesError(error, 'unreachable') ? error.cause : error
        if (cause instanceof FetchError && cause.status !== 404) fault = cause
        throw fault ?? error
      }
    }
    try {
      const shared: Source = Object.assign(Object.create(source), { fetch })
      return await work({ ...run, source: shared, mirror: this.mirror, done: new Map() })
    } catch (error) {
      throw toHttpError(error, this.now(), fault)
    }
  }

  /** Closes the service. A failure of that would concern nobody. */
  async close(): Promise<void> {
    await this.current?.then(run => run.close()).catch(() => {})
  }

  /** Runs work once for all who wait for it. */
  private share<T>(key: string, work: (run: Run<Source>) => Promise<T>): Promise<T> {
    return this.once(key, () => this.use(work)).finally(() => {
      if (this.pending.size === 0) this.mirror.flushAll()
    })
  }

  private once<T>(key: string, start: () => Promise<T>): Promise<T> {
    const pending = this.pending.get(key) ?? start().finally(() => this.pending.delete(key))
    this.pending.set(key, pending)
    return pending as Promise<T>
  }

  /** Opens the service, without a request; another run after one that has stopped for good, which ends what still uses it. */
  async take(): Promise<Run<Source>> {
    this.current ??= this.open()
    const taken = this.current
    const run = await taken.catch(error => {
      this.current = undefined
      throw error
    })
    // A refusal for a time ends by itself, and what needs no request goes on meanwhile.
    const { stopReason } = run.source.traffic
    if (!isKlinesError(stopReason, 'unreachable') || stopReason.cause === undefined) return run
    // Others may have replaced it meanwhile.
    if (this.current === taken) {
      this.current = undefined
      run.close().catch(() => {})
    }
    return this.take()
  }
}

/** Whether a candle may have closed since a window was asked for: readers of one window must not spend the limit of the exchange. */
function hasNewCandle(interval: Interval, asked: number, now: number): boolean {
  // Longer candles end with a day too.
  const step = Math.min(nextOpenTime(interval, 0), DAY_MS)
  return Math.floor((now - SETTLING_MS) / step) !== Math.floor((asked - SETTLING_MS) / step)
}

/** Converts what the engine and a source throw; an error that names failed windows gets their `fault` as its cause, others stay. */
function toHttpError(error: unknown, now: number, fault?: FetchError): unknown {
  if (isKlinesError(error, 'rate_limited')) {
    const seconds = String(Math.max(1, Math.ceil((Date.parse(error.data.until ?? '') - now) / 1000)))
    const message = `The service behind this server limits requests. Try again in ${seconds} s.`
    return new HttpError(503, message, { headers: { 'retry-after': seconds } })
  }
  if (error instanceof InvalidSymbolError) return failed('', true)
  if (isKlinesError(error, 'incomplete') && error.data.failures) {
    const cause = fault && failed(fault.message, false, fault.timedOut)
    return new KlinesError('incomplete', error.message, { ...error, cause })
  }
  const isFailure = error instanceof KlinesError && ['incomplete', 'bad_list', 'unreachable'].includes(error.code)
  const failure = isFailure ? error.cause : error
  if (failure instanceof FetchError) return failed(failure.message, failure.status === 404, failure.timedOut)
  // A list that lacks what is known; a service that refuses for a time.
  return isFailure ? new HttpError(502, error.message) : error
}

function failed(reason: string, isAbsent = false, timedOut = false): HttpError {
  if (isAbsent) return new HttpError(404, 'The service has no such file.')
  if (timedOut) return new HttpError(504, 'The service behind this server did not answer in time.')
  return new HttpError(502, `The service behind this server failed: ${trimPeriod(reason)}.`)
}
