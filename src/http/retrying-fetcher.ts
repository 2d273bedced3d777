import type { Clock } from '../klines/clock.js'
import { KlinesError } from '../klines/errors.js'
import { FetchError } from './fetch-error.js'
import { parseRetryAfter, RETRY_POLICY, type RetryPolicy, retryDelay } from './retry.js'
import { systemClock } from './system-clock.js'
import { Throttle } from './throttle.js'
import type { Transport, WholeResponse } from './transport.js'

/** Statuses with which a host says that we ask too much. */
const TOO_MUCH = new Set([429, 503])
/** Files in a row that failed for want of an answer, after all their tries, before the run ends. */
const MAX_UNREACHABLE_IN_A_ROW = 10
/** Files in a row that were no JSON at all (a captive portal, a wrong address) before the run ends. */
const MAX_NOT_JSON_IN_A_ROW = 3

/** What a `FileFetcher` is made of; all but the transport have real defaults. */
export interface FetcherOptions {
  readonly concurrency: number
  readonly clock?: Clock
  readonly random?: () => number
  readonly policy?: RetryPolicy
}

/** A file to get. */
export interface FileRequest<T> {
  readonly path: string
  readonly headers?: Record<string, string>
  /** Takes an answer or refuses it by throwing a `FetchError`; what it refuses is a failed attempt. */
  readonly accept: (reply: WholeResponse) => T
  readonly signal: AbortSignal
}

/**
 * Gets whole files of one host, each tried as the retry policy says, all under one throttle. Counts what it asks.
 * Throws the last `FetchError` of a file; `unreachable` or `rate_limited` when there is no point in asking for any other.
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
  private unreachableInARow = 0
  private notJsonInARow = 0
  private stopped: KlinesError | undefined
  private readonly closing = new AbortController()

  constructor(
    private readonly transport: Transport,
    readonly baseUrl: string,
    { concurrency, clock = systemClock, random = Math.random, policy = RETRY_POLICY }: FetcherOptions,
  ) {
    this.throttle = new Throttle(concurrency, clock)
    this.clock = clock
    this.random = random
    this.policy = policy
  }

  /** Whether the service was given up: every further file fails with the reason. */
  get hasStopped(): boolean {
    return this.stopped !== undefined
  }

  async get<T>(asked: FileRequest<T>): Promise<T> {
    // A signal of its own for each file: many that wait on one signal make Node warn of a leak.
    const request = { ...asked, signal: AbortSignal.any([asked.signal, this.closing.signal]) }
    let spentMs = 0
    for (let failures = 1; ; failures++) {
      const attempt = await this.throttle.run(request.signal, () => this.attempt(request, this.policy.fileMs - spentMs))
      if (!(attempt.outcome instanceof FetchError)) {
        this.unreachableInARow = 0
        this.notJsonInARow = 0
        return attempt.outcome.value
      }
      const failure = attempt.outcome
      spentMs += attempt.tookMs
      const delayMs = retryDelay(failure, failures, this.random(), this.policy)
      if (delayMs === undefined || spentMs + delayMs >= this.policy.fileMs) throw this.recordFailure(failure)
      spentMs += delayMs
      await this.clock.sleep(delayMs, request.signal)
    }
  }

  /** Ends what is under way, also what waits for another try: a run that is over must not keep the process alive. */
  close(): Promise<void> {
    this.closing.abort()
    return this.transport.close()
  }

  private async attempt<T>(
    request: FileRequest<T>,
    leftMs: number,
  ): Promise<{ outcome: { value: T } | FetchError; tookMs: number }> {
    if (this.stopped) throw this.stopped
    const started = this.clock.elapsed()
    // AbortSignal.timeout throws on a fraction, which a random delay leaves.
    const limitMs = Math.ceil(Math.min(this.policy.attemptMs, leftMs))
    const deadline = AbortSignal.timeout(limitMs)
    this.requests++
    try {
      const signal = AbortSignal.any([request.signal, deadline])
      const reply = await this.transport.get(request.path, {
        headers: request.headers ?? {},
        signal,
      })
      this.wireBytes += reply.wireBytes
      this.applyRetryAfter(reply)
      const value = request.accept(reply)
      this.throttle.succeeded()
      return { outcome: { value }, tookMs: this.clock.elapsed() - started }
    } catch (error) {
      request.signal.throwIfAborted()
      const late = deadline.aborted && !(error instanceof FetchError)
      const outcome = late
        ? new FetchError('transient', `no whole answer within ${limitMs / 1000} s`, {
            unreachable: true,
            timedOut: true,
          })
        : error
      if (outcome instanceof FetchError) return { outcome, tookMs: this.clock.elapsed() - started }
      throw error
    }
  }

  /** Obeys a host that says how much is too much. Throws `rate_limited` when it wants more patience than we have. */
  private applyRetryAfter({ status, headers }: WholeResponse): void {
    if (TOO_MUCH.has(status)) this.throttle.slowDown()
    const waitMs = status >= 400 ? parseRetryAfter(headers['retry-after'], this.clock.now()) : undefined
    if (waitMs === undefined) return
    if (waitMs > this.policy.maxRetryAfterMs) {
      // In whole seconds, and none too early.
      const untilTime = Math.ceil((this.clock.now() + waitMs) / 1000) * 1000
      const until = new Date(untilTime).toISOString().replace(/\.\d+Z$/, 'Z')
      this.stopped = new KlinesError(
        'rate_limited',
        `${this.baseUrl} answered ${status} and asks to stay away until ${until}.`,
        {
          suggestions: ['Run the same command again after that: what was brought stays in the mirror.'],
          data: { status, until },
        },
      )
      throw this.stopped
    }
    this.throttle.pause(waitMs)
  }

  /** Counts a file that was given up, and ends the run when too many in a row say that there is no service. */
  private recordFailure(failure: FetchError): FetchError | KlinesError {
    this.unreachableInARow = failure.unreachable ? this.unreachableInARow + 1 : 0
    this.notJsonInARow = failure.notJson ? this.notJsonInARow + 1 : 0
    if (this.unreachableInARow < MAX_UNREACHABLE_IN_A_ROW && this.notJsonInARow < MAX_NOT_JSON_IN_A_ROW) return failure
    this.stopped ??= unreachable(this.baseUrl, failure.message, failure)
    return this.stopped
  }
}

/** The error for a service that is not there, with the ways on. */
export function unreachable(baseUrl: string, why: string, cause?: unknown): KlinesError {
  return new KlinesError('unreachable', `The service at ${baseUrl} cannot be reached: ${why}.`, {
    cause,
    suggestions: [
      'Check the network and --base-url; --base-url sample tries everything out with made candles and no network.',
      'klines export works offline with what the mirror holds.',
    ],
    data: { baseUrl },
  })
}
