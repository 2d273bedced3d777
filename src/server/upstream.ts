import { isKlinesError, KlinesError } from '../candles/errors.js'
import { HOUR_MS } from '../candles/intervals.js'
import type { TreeEntry } from '../candles/paths.js'
import type { Series, WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { trimPeriod } from '../candles/text.js'
import { parseDate, startDateAt } from '../candles/windows.js'
import { needsFirstCandle } from '../engine/find-windows.js'
import { fetchStartDates, fetchSymbols } from '../engine/lists.js'
import { refreshWindow } from '../engine/refresh.js'
import type { Run } from '../engine/run.js'
import { nextSettled } from '../rows/closed-rows.js'
import { InvalidSymbolError } from '../sources/exchange-api.js'
import { FetchError } from '../sources/fetch-error.js'
import { QUICK_POLICY, type RetryPolicy } from '../sources/retry.js'
import type { Source } from '../sources/source.js'
import { HttpError } from './errors.js'
import type { ServedMirror } from './served-mirror.js'

/** A client waits: few tries, and a Retry-After of the service is passed on to the client instead of waited out. */
export const UPSTREAM_POLICY: RetryPolicy = { ...QUICK_POLICY, maxRetryAfterMs: 0 }

/** Opens a run with the service as its source. Called again when the previous one has stopped after too many failures. */
export type OpenUpstream = () => Promise<Run<Source>>

/**
 * The service behind a server: makes files of the mirror current, once a file however many clients wait for it. All methods throw
 * `HttpError`: 404 the service has no such file, 502 it failed, 503 it limits requests, 504 it timed out.
 */
export class Upstream {
  private current: Promise<Run<Source>> | undefined
  private readonly pending = new Map<string, Promise<unknown>>()
  private listed: { readonly names: readonly SymbolName[]; readonly time: number } | undefined

  constructor(
    private readonly open: OpenUpstream,
    private readonly mirror: ServedMirror,
    private readonly now: () => number,
  ) {}

  async refresh(entry: TreeEntry): Promise<void> {
    try {
      await this.once(JSON.stringify(entry), () => this.use(run => refreshEntry(run, entry)))
    } finally {
      if (this.pending.size === 0) this.mirror.flushAll()
    }
  }

  /** Does work with a run into the mirror of the server. Windows that others want at the same time are shared with them. */
  async use<T>(work: (run: Run<Source>) => Promise<T>): Promise<T> {
    const run = await this.take()
    let fault: FetchError | undefined
    const once = async <R>(path: string, refreshed: () => Promise<R>): Promise<R> => {
      try {
        return await this.once(path, refreshed)
      } catch (error) {
        if (error instanceof FetchError && error.status !== 404) fault = error
        throw error
      }
    }
    const source = servedSource(run, this.now)
    try {
      return await work({ ...run, source, mirror: this.mirror, done: new Map(), once })
    } catch (error) {
      throw toHttpError(error, this.now(), fault)
    }
  }

  /** The names that the service lists; asked for once an hour. */
  async symbols(): Promise<readonly SymbolName[]> {
    if (this.listed === undefined || this.now() - this.listed.time >= HOUR_MS) {
      const { names } = await this.once('symbols', () => this.use(fetchSymbols))
      this.listed = { names, time: this.now() }
    }
    return this.listed.names
  }

  /** When the first candle of a series opens, ms UTC: Infinity without one, -Infinity where the service does not say. */
  firstCandle(series: Series): Promise<number> {
    return this.use(async ({ source, signal }) => {
      if (!source.firstCandle) return -Infinity
      return (await source.firstCandle(series, signal)) ?? Infinity
    })
  }

  /** Closes the service; a failure of that changes nothing. */
  async close(): Promise<void> {
    await this.current?.then(run => run.close()).catch(() => {})
  }

  /** The result of work that is under way by the same name, else of this. */
  private once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const pending = this.pending.get(name)
    if (pending) return pending as Promise<T>
    const started = work().finally(() => this.pending.delete(name))
    this.pending.set(name, started)
    return started
  }

  /** Opens the service, without a request; again after a run that has stopped for good. */
  async take(): Promise<Run<Source>> {
    this.current ??= this.open()
    const taken = this.current
    let run: Run<Source>
    try {
      run = await taken
    } catch (error) {
      this.current = undefined
      throw error
    }
    if (!hasStopped(run)) return run
    if (this.current === taken) {
      this.current = undefined
      run.close().catch(() => {})
    }
    return this.take()
  }
}

/** Whether a run has stopped after too many failures; a refusal for a time ends by itself. */
function hasStopped({ source }: Run<Source>): boolean {
  const { stopReason } = source.traffic
  return isKlinesError(stopReason, 'unreachable') && stopReason.cause !== undefined
}

/**
 * The source of a run for all clients: one that leaves does not end what others wait for. An exchange is not asked for a window again
 * before it can have another candle: readers of one window must not spend its limit.
 */
function servedSource({ source, signal }: Run<Source>, now: () => number): Source {
  const fetch: Source['fetch'] = async (window, cached) => {
    const isRecent = cached && now() >= cached.asked && now() < nextSettled(window.interval, cached.asked)
    if (source.rules.kind === 'exchange' && isRecent) return { rendered: cached.rendered, asked: cached.asked }
    return source.fetch(window, cached, signal)
  }
  return Object.assign(Object.create(source), { fetch })
}

function refreshEntry(run: Run<Source>, entry: TreeEntry): Promise<unknown> {
  if (entry.kind === 'window') return refreshOne(run, entry.window)
  if (entry.kind === 'startDates') return fetchStartDates(run, entry.interval)
  return refreshSymbols(run)
}

async function refreshSymbols(run: Run<Source>): Promise<void> {
  const { gone } = await fetchSymbols(run)
  if (gone.length > 0) throw new HttpError(502, `The service behind this server lists ${gone.join(', ')} no more.`)
}

async function refreshOne(run: Run<Source>, window: WindowRef): Promise<void> {
  const { source, signal } = run
  const { market } = source.rules
  if (market) {
    if (window.startDate < startDateAt(window.interval, parseDate(market.opened))) throw noSuchFile()
    if (needsFirstCandle([window], run)) await source.firstCandle?.(window, signal)
  }
  const result = await refreshWindow(run, window)
  if (result.status !== 'failed') return
  throw result.isAbsent ? noSuchFile() : failed(result.reason, result.timedOut)
}

/** Converts what the engine and a source throw; an error that names failed windows gets their `fault` as its cause, others stay. */
function toHttpError(error: unknown, now: number, fault?: FetchError): unknown {
  if (error instanceof InvalidSymbolError) return noSuchFile()
  if (error instanceof FetchError) return fetchFailed(error)
  if (isKlinesError(error, 'rate_limited')) return limited(error.data.until, now)
  if (isKlinesError(error, 'incomplete') && error.data.failures) {
    const cause = fault && fetchFailed(fault)
    return new KlinesError('incomplete', error.message, { ...error, cause })
  }
  const isFailure = error instanceof KlinesError && ['incomplete', 'bad_list', 'unreachable'].includes(error.code)
  if (!isFailure) return error
  if (error.cause instanceof FetchError) return fetchFailed(error.cause)
  // A list that lacks what is known; a service that refuses for a time.
  return new HttpError(502, error.message)
}

function fetchFailed({ status, message, timedOut }: FetchError): HttpError {
  return status === 404 ? noSuchFile() : failed(message, timedOut)
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'The service has no such file.')
}

function failed(reason: string, timedOut = false): HttpError {
  if (timedOut) return new HttpError(504, 'The service behind this server did not answer in time.')
  return new HttpError(502, `The service behind this server failed: ${trimPeriod(reason)}.`)
}

/** `until`: when the service answers again, as ISO 8601; `now`: ms UTC. */
function limited(until: string | undefined, now: number): HttpError {
  const seconds = String(Math.max(1, Math.ceil((Date.parse(until ?? '') - now) / 1000)))
  const message = `The service behind this server limits requests. Try again in ${seconds} s.`
  return new HttpError(503, message, { headers: { 'retry-after': seconds } })
}
