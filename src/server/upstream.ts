import { isKlinesError, KlinesError } from '../candles/errors.js'
import { DAY_MS, type Interval, nextOpenTime } from '../candles/intervals.js'
import { type TreeEntry, windowPath } from '../candles/paths.js'
import type { WindowRef } from '../candles/series.js'
import { trimPeriod } from '../candles/text.js'
import { firstExchangeStartDate } from '../candles/windows.js'
import { needsFirstCandle } from '../engine/find-windows.js'
import { fetchStartDates, fetchSymbols } from '../engine/lists.js'
import { refreshWindow } from '../engine/refresh.js'
import type { Run } from '../engine/run.js'
import { SETTLING_MS } from '../rows/closed-rows.js'
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
 * The service behind a server: fetches files into the mirror, with one request a file however many clients wait for it. All methods
 * throw `HttpError`: 404 the service has no such file, 502 it failed, 503 it limits requests, 504 it timed out.
 */
export class Upstream {
  private current: Promise<Run<Source>> | undefined
  private readonly pending = new Map<string, Promise<unknown>>()

  constructor(
    private readonly open: OpenUpstream,
    private readonly mirror: ServedMirror,
    private readonly now: () => number,
  ) {}

  refresh(entry: TreeEntry): Promise<void> {
    const work = async (run: Run<Source>) => {
      if (entry.kind === 'window') return refresh(run, entry.window)
      if (entry.kind === 'startDates') return void (await fetchStartDates(run, entry.interval))
      const { gone } = await fetchSymbols(run)
      if (gone.length > 0) throw new HttpError(502, `The service behind this server lists ${gone.join(', ')} no more.`)
    }
    return this.once(JSON.stringify(entry), () => this.use(work)).finally(() => {
      if (this.pending.size === 0) this.mirror.flushAll()
    })
  }

  async use<T>(work: (run: Run<Source>) => Promise<T>): Promise<T> {
    const run = await this.take()
    const { source, signal } = run
    let fault: FetchError | undefined
    const fetch: Source['fetch'] = async (window, cached) => {
      if (source.rules.kind === 'exchange' && cached && !hasNewCandle(window.interval, cached.asked, this.now()))
        return { rendered: cached.rendered, asked: cached.asked }
      try {
        return await this.once(windowPath(window), () => source.fetch(window, cached, signal))
      } catch (error) {
        if (error instanceof FetchError && error.status !== 404) fault = error
        throw error
      }
    }
    try {
      const shared: Source = Object.assign(Object.create(source), { fetch })
      return await work({ ...run, source: shared, mirror: this.mirror, done: new Map() })
    } catch (error) {
      throw toHttpError(error, this.now(), fault)
    }
  }

  /** Closes the service; a failure of that changes nothing. */
  async close(): Promise<void> {
    await this.current?.then(run => run.close()).catch(() => {})
  }

  private once<T>(key: string, start: () => Promise<T>): Promise<T> {
    const pending = this.pending.get(key) ?? start().finally(() => this.pending.delete(key))
    this.pending.set(key, pending)
    return pending as Promise<T>
  }

  /** Opens the service, without a request; again after a run that has stopped for good. */
  async take(): Promise<Run<Source>> {
    this.current ??= this.open()
    const taken = this.current
    const run = await taken.catch(error => {
      this.current = undefined
      throw error
    })
    // A refusal for a time ends by itself.
    const { stopReason } = run.source.traffic
    if (!isKlinesError(stopReason, 'unreachable') || stopReason.cause === undefined) return run
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

async function refresh(run: Run<Source>, window: WindowRef): Promise<void> {
  const { source, signal } = run
  if (source.rules.kind === 'exchange') {
    if (window.startDate < firstExchangeStartDate(window.interval)) throw failed('', true)
    if (needsFirstCandle([window], run)) await source.firstCandle?.(window, signal)
  }
  const result = await refreshWindow(run, window)
  if (result.status === 'failed') throw failed(result.reason, result.isAbsent, result.timedOut)
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
