import type { KlinesError } from '../candles/errors.js'
import { bannedUntil, rememberBan } from './bans.js'
import { rateLimited, stillBanned, unreachable } from './errors.js'
import { FetchError } from './fetch-error.js'
import { limiter } from './limiter.js'
import { type Clock, parseRetryAfter, type RetryPolicy, retryDelay, systemClock } from './retry.js'
import type { HttpTransport, WholeResponse } from './transport.js'

/** The run ends after so many files in a row that the service did not answer, or that were not JSON: a captive portal. */
const MOST_IN_A_ROW = { unreachable: 10, notJson: 3 }

/** The network traffic of a run. */
export interface NetworkActivity {
  /** With retries. */
  readonly requests: number
  /** Of bodies, over the wire. */
  readonly bytes: number
  /** Files that wait for a retry or are being retried. */
  readonly retrying: number
  /** Why the latest of them is retried. */
  readonly failure: string | undefined
  /** How long the host asked to wait from now, ms; 0 without a pause. */
  readonly pauseMs: number
  readonly pauseReason: string | undefined
}

/** The end of all requests to a host until a time, ms UTC. */
export interface Stop {
  readonly error: KlinesError
  readonly untilTime: number
}

/** What a host demands beside statuses and Retry-After. */
export interface HostRules {
  /** What ends the run after this answer. */
  stopAfter(response: WholeResponse): Stop | undefined
  /** How long every further request has to wait after this answer, ms. */
  pauseAfter(response: WholeResponse, path?: string): number
  readonly pauseReason: string
}

interface FetcherOptions {
  /** Requests at once. */
  readonly concurrency: number
  /** `https://example.com`: its bans are remembered for other runs. Default: they are not. */
  readonly origin?: string | undefined
  readonly policy: RetryPolicy
  readonly rules?: HostRules | undefined
  readonly clock?: Clock
  readonly random?: () => number
  readonly onActivity?: ((activity: NetworkActivity) => void) | undefined
  /** Another one that counts these requests too. */
  readonly partOf?: Fetcher
}

interface FileRequest<T> {
  readonly path: string
  readonly headers?: Record<string, string>
  /** Parses an answer, or throws a `FetchError`, which counts as a failed attempt. */
  readonly accept: (response: WholeResponse) => T
  readonly signal: AbortSignal
}

/**
 * Fetches files of one host, a few at once, each with the retries of the policy; a pause that the host demands holds back all of them.
 * Throws the last `FetchError` of a file, or `unreachable` or `rate_limited` when every other file would fail too.
 */
export class Fetcher {
  requests = 0
  bytes = 0
  private readonly limit: ReturnType<typeof limiter>
  private readonly options: FetcherOptions & { readonly clock: Clock }
  private readonly closing = new AbortController()
  private stop: Stop | undefined
  /** By the clock that never goes back, ms. */
  private pausedUntil = 0
  private pauseReason = ''
  private inARow = { unreachable: 0, notJson: 0 }
  private retrying = 0
  private failure: string | undefined

  /** `name`: of the source, for messages. */
  constructor(
    private readonly transport: Pick<HttpTransport, 'get' | 'close'>,
    readonly name: string,
    options: FetcherOptions,
  ) {
    this.options = { clock: systemClock, ...options }
    this.limit = limiter(options.concurrency)
    const { origin, clock } = this.options
    const untilTime = origin && bannedUntil(origin, clock.now())
    if (untilTime) this.stop = { error: stillBanned(name, untilTime), untilTime }
  }

  /** The error that has ended the run: every further file fails with it until its time has passed. */
  get stopReason(): KlinesError | undefined {
    return this.stop && this.stop.untilTime > this.options.clock.now() ? this.stop.error : undefined
  }

  async get<T>(file: FileRequest<T>): Promise<T> {
    const { policy, clock, random = Math.random } = this.options
    // Each file gets its own signal: Node warns of a leak when many listeners wait on one signal.
    const request = { ...file, signal: AbortSignal.any([file.signal, this.closing.signal]) }
    let isRetrying = false
    try {
      for (let failures = 1; ; failures++) {
        try {
          const value = await this.limit(() => this.attempt(request))
          this.inARow = { unreachable: 0, notJson: 0 }
          return value
        } catch (error) {
          if (!(error instanceof FetchError)) throw error
          const delayMs = retryDelay(error, failures, random(), policy)
          if (delayMs === undefined) {
            error.tries = failures
            throw this.countFailure(error)
          }
          this.failure = error.message
          if (!isRetrying) this.retrying++
          isRetrying = true
          this.report()
          await clock.sleep(delayMs, request.signal)
        }
      }
    } finally {
      if (isRetrying) this.retrying--
      this.report()
    }
  }

  /** Aborts running requests and waiting retries, which would keep the process alive. */
  close(): Promise<void> {
    this.closing.abort()
    return this.transport.close()
  }

  /** Waits as the host has demanded. Throws what has ended the run. */
  private async waitForTurn(signal: AbortSignal): Promise<void> {
    const { clock } = this.options
    for (;;) {
      signal.throwIfAborted()
      if (this.stopReason) throw this.stopReason
      // Another answer may lengthen the pause meanwhile.
      const leftMs = this.pausedUntil - clock.elapsed()
      if (leftMs <= 0) return
      await clock.sleep(leftMs, signal)
    }
  }

  private async attempt<T>({ path, headers = {}, accept, signal }: FileRequest<T>): Promise<T> {
    await this.waitForTurn(signal)
    const { attemptMs } = this.options.policy
    const deadline = AbortSignal.timeout(attemptMs)
    this.count(1, 0)
    try {
      const response = await this.transport.get(path, { headers, signal: AbortSignal.any([signal, deadline]) })
      this.count(0, response.wireBytes)
      this.heed(response, path)
      return accept(response)
    } catch (error) {
      signal.throwIfAborted()
      if (!deadline.aborted || error instanceof FetchError) throw error
      const reason = `no whole answer within ${attemptMs / 1000} s`
      throw new FetchError('transient', reason, { unreachable: true, timedOut: true })
    }
  }

  /** Does what an answer demands. Throws what ends the run: a refusal of the host, or too long a wait. */
  private heed(response: WholeResponse, path: string): void {
    const { clock, rules, policy } = this.options
    const { status, headers } = response
    const stop = rules?.stopAfter(response)
    if (stop) throw this.end(stop, status)
    const ruleMs = rules?.pauseAfter(response, path) ?? 0
    const retryAfterMs = status >= 400 ? (parseRetryAfter(headers['retry-after'], clock.now()) ?? 0) : 0
    const waitMs = Math.max(ruleMs, retryAfterMs)
    if (waitMs === 0) return
    if (waitMs <= policy.maxRetryAfterMs && status !== 418) {
      this.pausedUntil = Math.max(this.pausedUntil, clock.elapsed() + waitMs)
      this.pauseReason = status !== 429 && ruleMs > retryAfterMs ? (rules?.pauseReason ?? '') : 'rate limited'
      this.report()
      return
    }
    const untilTime = clock.now() + waitMs
    const error = this.end({ error: rateLimited(this.name, status, untilTime), untilTime }, status)
    if (status >= 400) throw error
  }

  /** Ends all requests. Returns the error that lasts longest, so that its message names the right time. */
  private end(stop: Stop, status?: number): KlinesError {
    const { origin } = this.options
    if (status === 418 && origin) rememberBan(origin, stop.untilTime)
    if (!this.stop || stop.untilTime > this.stop.untilTime) this.stop = stop
    return this.stop.error
  }

  /** Counts a failed file, and returns the error to throw: `unreachable` after too many failures in a row. */
  private countFailure(failure: FetchError): FetchError | KlinesError {
    const kind = failure.notJson ? 'notJson' : 'unreachable'
    const count = failure[kind] ? this.inARow[kind] + 1 : 0
    this.inARow = { unreachable: 0, notJson: 0, [kind]: count }
    if (count < MOST_IN_A_ROW[kind]) return failure
    const error = unreachable(this.name, failure, `each of ${count} files in a row`)
    return this.end({ error, untilTime: Infinity })
  }

  private count(requests: number, bytes: number): void {
    this.requests += requests
    this.bytes += bytes
    this.options.partOf?.count(requests, bytes)
    this.report()
  }

  private report(): void {
    const { requests, bytes, retrying, failure } = this
    const pauseMs = Math.max(0, this.pausedUntil - this.options.clock.elapsed())
    const pauseReason = pauseMs > 0 ? this.pauseReason : undefined
    this.options.onActivity?.({ requests, bytes, retrying, failure, pauseMs, pauseReason })
  }
}
