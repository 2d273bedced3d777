import pMap from 'p-map'
import { incomplete } from '../engine/errors.js'
import { fetchStartDates, fetchSymbols, request } from '../engine/lists.js'
import { needsFirstCandle, type Plan, type PlanRequest, planRequest } from '../engine/plan.js'
import { refreshWindow, type WindowFailure } from '../engine/refresh.js'
import type { Run } from '../engine/run.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { DAY_MS, HOUR_MS, type Interval, MINUTE_MS, nextOpenTime } from '../klines/intervals.js'
import { type TreeEntry, windowPath } from '../klines/paths.js'
import type { WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { trimPeriod } from '../klines/text.js'
import { firstExchangeStartDate } from '../klines/windows.js'
import { SETTLING_MS } from '../sources/closed-rows.js'
import { InvalidSymbolError } from '../sources/exchange-errors.js'
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

/** Windows of an export that are fetched at the same time; the service's own limits hold too. */
const FETCHES_AT_ONCE = 16

/** A list of the tree. */
export type ListEntry = Exclude<TreeEntry, { kind: 'window' }>

/** Opens a run with the service as its source. Called again when the previous one has stopped after too many failures. */
export type OpenUpstream = () => Promise<Run<Source>>

/** An open run, and how many requests use it. */
interface Opened {
  readonly run: Run<Source>
  uses: number
  isReplaced: boolean
}

/**
 * The service behind a server: fetches files into the mirror, with one request a file however many clients wait for it. All methods
 * throw `HttpError`: 404 the service has no such file, 502 its response was invalid or it is unreachable, 503 it limits requests (and gets
 * none until its time), 504 it timed out.
 */
export class Upstream {
  private current: Promise<Opened> | undefined
  private readonly opened = new Set<Opened>()
  private readonly pending = new Map<string, Promise<unknown>>()
  private symbols: Promise<readonly SymbolName[]> = Promise.resolve([])
  /** When the symbols are asked for again, ms UTC. */
  private symbolsUntil = 0

  constructor(
    private readonly open: OpenUpstream,
    private readonly mirror: ServedMirror,
    private readonly now: () => number,
  ) {}

  /** Opens the service, so that a wrong configuration fails early. Throws what `open` throws; sends no request. */
  async start(): Promise<void> {
    await this.take().then(opened => this.release(opened))
  }

  /** Makes a window current, in the mirror or in memory. */
  refresh(window: WindowRef): Promise<void> {
    return this.share(windowPath(window), async run => {
      const { source, mirror, signal } = run
      if (source.rules.kind === 'exchange') {
        if (window.startDate < firstExchangeStartDate(window.interval)) throw noSuchFile()
        const facts = mirror.facts(window).get(window.startDate)
        const isCurrent = facts && !hasNewCandle(window.interval, facts.asked, this.now())
        if (isCurrent && mirror.read(window).state === 'cached') return
        if (needsFirstCandle([window], run)) await source.firstCandle?.(window, signal)
      }
      const result = await refreshWindow(run, window)
      if (result.status === 'failed') throw failed(result.reason, result.isAbsent, result.timedOut)
    })
  }

  /** Makes a list current. */
  refreshList(entry: ListEntry): Promise<void> {
    return this.share(entry.kind === 'symbols' ? entry.kind : entry.interval, async run => {
      if (entry.kind === 'startDates') await fetchStartDates(run, entry.interval)
      else {
        const { gone } = await fetchSymbols(run)
        if (gone.length > 0)
          throw new HttpError(502, `The service behind this server lists ${gone.join(', ')} no more.`)
      }
    })
  }

  /** Whether the mirror or the service has a symbol, with one request an hour at most, and after a failed one in five minutes. */
  async knows(symbol: SymbolName): Promise<boolean> {
    if (this.mirror.knows(symbol)) return true
    if (this.now() >= this.symbolsUntil) {
      this.symbolsUntil = this.now() + HOUR_MS
      const known = this.symbols
      this.symbols = this.share('names', async run => (await fetchSymbols({ ...run, readOnly: true })).names)
      this.symbols.catch(() => {
        this.symbolsUntil = this.now() + 5 * MINUTE_MS
        void known.then(names => {
          if (names.length > 0) this.symbols = known
        })
      })
    }
    return (await this.symbols).includes(symbol)
  }

  /** The exchange's present, ms UTC. */
  present(): Promise<number> {
    return this.share('now', ({ source, signal }) => request(source, "the exchange's clock", source.now(signal)))
  }

  /** The windows of a request, as the service lists them. */
  plan(asked: PlanRequest): Promise<Plan> {
    return this.use(run => planRequest(asked, run))
  }

  /**
   * Makes all windows of a plan current. Returns the plan without the windows that the service does not have before the first one that it
   * has, and why some may not be current: after a failure, those that are cached count as they are. Throws `HttpError` with each window
   * that cannot be had, and the signal's reason.
   */
  async refreshPlan(
    plan: Plan,
    signal: AbortSignal,
    found?: HttpError,
  ): Promise<{ plan: Plan; problem: HttpError | undefined }> {
    let problem = found
    const refresh = async (window: WindowRef): Promise<WindowFailure | undefined> => {
      try {
        if (problem) throw problem
        await this.refresh(window)
        return undefined
      } catch (error) {
        if (!(error instanceof HttpError)) throw error
        if (error.statusCode !== 404) problem = error
        if (this.mirror.read(window).state === 'cached') return undefined
        return { window, status: 'failed', reason: trimPeriod(error.message), isAbsent: error.statusCode === 404 }
      }
    }
    const series = await pMap(plan.series, async one => {
      const results = await pMap(one.windows, refresh, { concurrency: FETCHES_AT_ONCE, signal })
      const begin = results.findIndex(failure => !failure?.isAbsent)
      return { one, begin, failures: results.slice(Math.max(begin, 0)).flatMap(failure => failure ?? []) }
    })
    const failures = series.flatMap(one => one.failures)
    if (failures.length > 0) {
      if (problem?.statusCode === 503) throw problem
      const total = plan.series.reduce((sum, { windows }) => sum + windows.length, 0)
      const { message, data } = incomplete(failures, total, { offline: false, forExport: true })
      const details = { suggestions: ['The mirror keeps what was downloaded; try again later.'], data, cause: problem }
      throw new KlinesError('incomplete', message, details)
    }
    const begun = series.map(({ one, begin }) => ({ ...one, windows: one.windows.slice(begin) }))
    return { plan: { ...plan, series: begun }, problem }
  }

  /** Closes every run that was opened. */
  async close(): Promise<void> {
    await Promise.all([...this.opened].map(({ run }) => run.close().catch(() => {})))
  }

  /** Runs work once for all who wait for it. */
  private share<T>(key: string, work: (run: Run<Source>) => Promise<T>): Promise<T> {
    const shared = this.pending.get(key)
    if (shared) return shared as Promise<T>
    const started = this.use(work).finally(() => {
      this.pending.delete(key)
      if (this.pending.size === 0) this.mirror.flushAll()
    })
    this.pending.set(key, started)
    return started
  }

  private async use<T>(work: (run: Run<Source>) => Promise<T>): Promise<T> {
    const opened = await this.take()
    try {
      return await work({ ...opened.run, mirror: this.mirror, done: new Map() })
    } catch (error) {
      throw toHttpError(error, this.now())
    } finally {
      this.release(opened)
    }
  }

  private async take(): Promise<Opened> {
    for (;;) {
      this.current ??= this.openNext()
      const taken = this.current
      const opened = await taken
      // Others may have replaced it meanwhile, and closed it.
      if (this.current !== taken) continue
      if (!hasStopped(opened.run.source)) {
        opened.uses++
        return opened
      }
      this.current = undefined
      opened.isReplaced = true
      if (opened.uses === 0) this.retire(opened)
    }
  }

  private async openNext(): Promise<Opened> {
    try {
      const opened = { run: await this.open(), uses: 0, isReplaced: false }
      this.opened.add(opened)
      return opened
    } catch (error) {
      this.current = undefined
      throw error
    }
  }

  private release(opened: Opened): void {
    if (--opened.uses === 0 && opened.isReplaced) this.retire(opened)
  }

  /** Closes a run that was replaced. Its failure would concern nobody. */
  private retire(opened: Opened): void {
    this.opened.delete(opened)
    opened.run.close().catch(() => {})
  }
}

/** Whether a source has stopped for good: a refusal for a time ends by itself, and what needs no request goes on meanwhile. */
function hasStopped({ stopReason }: Source): boolean {
  return isKlinesError(stopReason, 'unreachable') && stopReason.cause !== undefined
}

/**
 * Whether a candle may have closed since a window was asked for: readers of one window must not spend the limit of the exchange. Both
 * times in ms UTC.
 */
function hasNewCandle(interval: Interval, asked: number, now: number): boolean {
  // Longer candles end with a day too.
  const step = Math.min(nextOpenTime(interval, 0), DAY_MS)
  const [before, after] = [asked, now].map(time => Math.floor((time - SETTLING_MS) / step))
  return after !== before
}

/** Converts what the engine and a source throw, and a window that could not be had; returns other errors unchanged. */
function toHttpError(error: unknown, now = 0): unknown {
  if (isKlinesError(error, 'rate_limited')) {
    const seconds = String(Math.max(1, Math.ceil((Date.parse(error.data.until ?? '') - now) / 1000)))
    const message = `The service behind this server limits requests. Try again in ${seconds} s.`
    return new HttpError(503, message, { headers: { 'retry-after': seconds } })
  }
  if (error instanceof InvalidSymbolError) return noSuchFile()
  const isFailure =
    isKlinesError(error, 'incomplete') || isKlinesError(error, 'bad_list') || isKlinesError(error, 'unreachable')
  const failure = isFailure ? error.cause : error
  if (failure instanceof FetchError) return failed(failure.message, failure.status === 404, failure.timedOut)
  // A list that lacks what is known; a service that refuses for a time.
  return isFailure ? new HttpError(502, error.message) : error
}

function failed(reason: string, isAbsent = false, timedOut = false): HttpError {
  if (isAbsent) return noSuchFile()
  if (timedOut) return new HttpError(504, 'The service behind this server did not answer in time.')
  return new HttpError(502, `The service behind this server failed: ${trimPeriod(reason)}.`)
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'The service has no such file.')
}
