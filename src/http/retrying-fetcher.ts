import type { KlinesError } from '../klines/errors.js'
import { FetchError } from './fetch-error.js'
import { type DemandOptions, HostDemands } from './host-demands.js'
import { RETRY_POLICY, type RetryPolicy, retryDelay } from './retry.js'
import { unreachable } from './service-errors.js'
import { type Clock, systemClock } from './system-clock.js'
import { Throttle } from './throttle.js'
import type { HttpTransport, WholeResponse } from './transport/transport.js'

/** The run ends after this many files in a row that the service did not answer, each after all its tries. */
const MAX_UNREACHABLE_IN_A_ROW = 10
/** The run ends after this many files in a row that were not JSON: a captive portal or a wrong address. */
const MAX_NOT_JSON_IN_A_ROW = 3

/** The network traffic of a fetcher. */
export interface NetworkActivity {
  /** Requests made, retries included. */
  readonly requests: number
  /** Bytes of bodies as they came over the wire. */
  readonly bytes: number
  /** Files that wait for a retry or are being retried. */
  readonly retrying: number
  /** Why the latest of them is retried. */
  readonly failure: string | undefined
  /** How long the host asked to wait from now, ms; 0 without a pause. */
  readonly pauseMs: number
  /** Why it has to wait; undefined without a pause. */
  readonly pauseReason: string | undefined
}

/** Settings of a `RetryingFetcher`. */
export interface FetcherOptions extends Pick<DemandOptions, 'rules' | 'banFile'> {
  readonly concurrency: number
  readonly clock?: Clock
  readonly random?: () => number
  readonly policy?: RetryPolicy
  /** Called when the activity has changed. */
  readonly onActivity?: ((activity: NetworkActivity) => void) | undefined
}

/** A file to fetch. */
export interface FileRequest<T> {
  readonly path: string
  readonly headers?: Record<string, string>
  /** Parses a response, or throws a `FetchError`, which counts as a failed attempt. */
  readonly accept: (response: WholeResponse) => T
  readonly signal: AbortSignal
}

/**
 * Fetches files of one host, each with the retries of the policy, all under one throttle, and counts the requests. Throws
 * the last `FetchError` of a file, or `unreachable` or `rate_limited` when every other file would fail too.
 */
export class RetryingFetcher {
  /** Requests made, retries included. */
  requests = 0
  /** Bytes of bodies as they came over the wire. */
  wireBytes = 0
  private readonly throttle: Throttle
  private readonly clock: Clock
  private readonly random: () => number
  private readonly policy: RetryPolicy
  private readonly demands: HostDemands
  private unreachableInARow = 0
  private notJsonInARow = 0
  private readonly closing = new AbortController()
  private readonly onActivity: (activity: NetworkActivity) => void
  private retrying = 0
  private failure: string | undefined

  constructor(
    private readonly transport: Pick<HttpTransport, 'get' | 'close'>,
    readonly baseUrl: string,
    {
      concurrency,
      clock = systemClock,
      random = Math.random,
      policy = RETRY_POLICY,
      rules,
      banFile,
      onActivity = () => {},
    }: FetcherOptions,
  ) {
    this.throttle = new Throttle(concurrency, clock, () => this.demands.check())
    const maxWaitMs = policy.maxRetryAfterMs
    this.demands = new HostDemands(baseUrl, this.throttle, {
      clock,
      maxWaitMs,
      rules,
      banFile,
      onPause: () => this.report(),
    })
    this.clock = clock
    this.random = random
    this.policy = policy
    this.onActivity = onActivity
  }

  /** The error that has ended the run: every further file fails with it at once, until the time that it names, if any. */
  get stopReason(): KlinesError | undefined {
    return this.demands.stopReason
  }

  async get<T>(file: FileRequest<T>): Promise<T> {
    // Each file gets its own signal: Node warns of a leak when many listeners wait on one signal.
    const request = { ...file, signal: AbortSignal.any([file.signal, this.closing.signal]) }
    let isRetrying = false
    const retry = (failure: FetchError) => {
      this.failure = failure.message
      if (!isRetrying) this.retrying++
      isRetrying = true
      this.report()
    }
    try {
      return await this.getWithRetries(request, retry)
    } finally {
      if (isRetrying) this.retrying--
      this.report()
    }
  }

  /** Calls `onRetry` after each failed attempt that is not the last. */
  private async getWithRetries<T>(request: FileRequest<T>, onRetry: (failure: FetchError) => void): Promise<T> {
    let spentMs = 0
    for (let failures = 1; ; failures++) {
      let startedMs = 0
      const attempt = () => {
        startedMs = this.clock.elapsed()
        return this.attempt(request, this.policy.fileMs - spentMs)
      }
      try {
        const value = await this.throttle.run(request.signal, attempt)
        this.unreachableInARow = 0
        this.notJsonInARow = 0
        return value
      } catch (error) {
        if (!(error instanceof FetchError)) throw error
        spentMs += this.clock.elapsed() - startedMs
        error.tries = failures
        const delayMs = retryDelay(error, failures, this.random(), this.policy)
        if (delayMs === undefined || spentMs + delayMs >= this.policy.fileMs) throw this.recordFailure(error)
        spentMs += delayMs
        onRetry(error)
        await this.clock.sleep(delayMs, request.signal)
      }
    }
  }

  /** Aborts running requests and waiting retries, which would keep the process alive. */
  close(): Promise<void> {
    this.closing.abort()
    return this.transport.close()
  }

  private async attempt<T>(request: FileRequest<T>, leftMs: number): Promise<T> {
    // AbortSignal.timeout rejects fractions, and a random delay leaves one.
    const limitMs = Math.ceil(Math.min(this.policy.attemptMs, leftMs))
    const deadline = AbortSignal.timeout(limitMs)
    this.requests++
    this.report()
    let response: WholeResponse | undefined
    try {
      const signal = AbortSignal.any([request.signal, deadline])
      response = await this.transport.get(request.path, { headers: request.headers ?? {}, signal })
      this.wireBytes += response.wireBytes
      this.demands.apply(response, request.path)
      const value = request.accept(response)
      this.throttle.succeeded()
      return value
    } catch (error) {
      request.signal.throwIfAborted()
      if (response === undefined) this.demands.countFailure(request.path)
      if (!deadline.aborted || error instanceof FetchError) throw error
      const details = { unreachable: true, timedOut: true }
      throw new FetchError('transient', `no whole answer within ${limitMs / 1000} s`, details)
    }
  }

  private report(): void {
    const { requests, wireBytes: bytes, retrying, failure, throttle } = this
    const pauseMs = throttle.pauseLeft
    this.onActivity({
      requests,
      bytes,
      retrying,
      failure,
      pauseMs,
      pauseReason: pauseMs > 0 ? this.demands.pauseReason : undefined,
    })
  }

  /** Counts a failed file, and returns the error to throw: `unreachable` after too many failures in a row. */
  private recordFailure(failure: FetchError): FetchError | KlinesError {
    this.unreachableInARow = failure.unreachable ? this.unreachableInARow + 1 : 0
    this.notJsonInARow = failure.notJson ? this.notJsonInARow + 1 : 0
    if (this.unreachableInARow < MAX_UNREACHABLE_IN_A_ROW && this.notJsonInARow < MAX_NOT_JSON_IN_A_ROW) return failure
    const count = failure.notJson ? this.notJsonInARow : this.unreachableInARow
    return this.demands.stop(unreachable(this.baseUrl, failure, `each of ${count} files in a row`))
  }
}
