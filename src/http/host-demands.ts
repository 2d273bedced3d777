import type { KlinesError } from '../klines/errors.js'
import { readBan, writeBan } from './ban-file.js'
import { parseRetryAfter } from './retry.js'
import { COME_BACK, rateLimited, stillBanned } from './service-errors.js'
import type { Clock } from './system-clock.js'
import type { Throttle } from './throttle.js'
import type { WholeResponse } from './transport/transport.js'

/** Statuses with which an overloaded host asks for fewer requests. */
const OVERLOAD_STATUSES = new Set([429, 503])

const RATE_LIMITED = 'rate limited'

/** Settings of `HostDemands`. */
export interface DemandOptions {
  readonly clock: Clock
  /** A longer wait ends the run, ms. */
  readonly maxWaitMs: number
  /** What the host demands beside statuses and Retry-After. */
  readonly rules?: HostRules | undefined
  /** Says to all runs until when the host bans this address. */
  readonly banFile?: string | undefined
  /** Called when requests have to wait. */
  readonly onPause: () => void
}

/** What a host demands of a run: to slow down, to wait, or to end. */
export class HostDemands {
  /** Why requests wait, as `HostRules` says. */
  pauseReason = RATE_LIMITED
  private readonly rules: HostRules
  private error: KlinesError | undefined
  /** When `error` ends, ms UTC. */
  private untilTime = 0
  /** The same by the clock that is never set back, so that nothing lasts longer than it was said to. */
  private untilElapsed = 0

  constructor(
    private readonly baseUrl: string,
    private readonly throttle: Pick<Throttle, 'pause' | 'slowDown'>,
    private readonly options: DemandOptions,
  ) {
    this.rules = options.rules ?? NO_RULES
  }

  /** The error that has ended the run; undefined when none has, or when its time has passed. */
  get stopReason(): KlinesError | undefined {
    const { clock } = this.options
    if (this.untilTime <= clock.now() || this.untilElapsed <= clock.elapsed()) this.error = undefined
    return this.error
  }

  /**
   * Ends all requests until a time, ms UTC. Returns the reason that lasts longest, so that its message names the right time; what
   * the host demands counts more than faults, which have a cause.
   */
  stop(reason: KlinesError, untilTime = Number.POSITIVE_INFINITY): KlinesError {
    const { stopReason } = this
    const isDemand = reason.cause === undefined
    const wasDemand = stopReason?.cause === undefined
    const isWeaker = isDemand === wasDemand ? untilTime <= this.untilTime : wasDemand
    if (stopReason && isWeaker) return stopReason
    const { clock } = this.options
    this.error = reason
    this.untilTime = untilTime
    this.untilElapsed = clock.elapsed() + untilTime - clock.now()
    return reason
  }

  /** To be called before each request: throws what has ended this run, and ends it for a ban that another run was told of. */
  check(): void {
    const { stopReason } = this
    if (stopReason) throw stopReason
    const { banFile, clock } = this.options
    const untilTime = banFile && readBan(banFile, clock.now())
    if (banFile && untilTime) throw this.stop(stillBanned(this.baseUrl, untilTime, banFile), untilTime)
  }

  /**
   * Does what a response for `path` demands, and tells other runs of a ban. Throws what ends the run: a refusal of the host, a
   * ban, or `rate_limited` for too long a wait; a response that is good counts before that.
   */
  apply(response: WholeResponse, path: string): void {
    const { status, headers } = response
    const { clock } = this.options
    if (OVERLOAD_STATUSES.has(status)) this.throttle.slowDown()
    const refusal = this.rules.findRefusal(response)
    if (refusal) {
      this.remember(status, refusal.untilTime)
      throw this.stop(refusal.error, refusal.untilTime)
    }
    const ruleMs = this.rules.pauseAfter(response, path)
    const retryAfterMs = status >= 400 ? (parseRetryAfter(headers['retry-after'], clock.now()) ?? 0) : 0
    const waitMs = Math.max(ruleMs, retryAfterMs)
    if (waitMs === 0) return
    this.remember(status, clock.now() + waitMs)
    const reason = status !== 429 && ruleMs > retryAfterMs ? this.rules.pauseReason : RATE_LIMITED
    if (this.pause(status, waitMs, reason)) return
    // Rounded up to a whole second, so that the next run is not too early.
    const untilTime = Math.ceil((clock.now() + waitMs) / 1000) * 1000
    const limited = this.stop(rateLimited(this.baseUrl, status, untilTime, COME_BACK), untilTime)
    if (status >= 400) throw limited
  }

  /** To be called when a request for `path` got no response. */
  countFailure(path: string): void {
    this.rules.countFailure(path)
  }

  /** Pauses all requests; false when the wait is too long, and for a ban, however short: no run waits for its end. */
  private pause(status: number, waitMs: number, reason: string): boolean {
    if (status === 418 || waitMs > this.options.maxWaitMs) return false
    this.throttle.pause(waitMs)
    this.pauseReason = reason
    this.options.onPause()
    return true
  }

  private remember(status: number, untilTime: number): void {
    const { banFile } = this.options
    if (status === 418 && banFile) writeBan(banFile, untilTime)
  }
}

/** The end of all requests to a host. */
export interface Refusal {
  readonly error: KlinesError
  /** Until when the host refuses, ms UTC. */
  readonly untilTime: number
}

/** What a host demands beside statuses and Retry-After. */
export interface HostRules {
  /** What ends the run after this response: further requests would be refused too. */
  findRefusal(response: WholeResponse): Refusal | undefined
  /** How long every further request has to wait after the response for `path`, ms; 0 for no pause. */
  pauseAfter(response: WholeResponse, path: string): number
  /** Called when a request for `path` got no response: the host may have counted it. */
  countFailure(path: string): void
  /** Why requests have to wait, for people: `half the request limit is used`, short enough for one line of a terminal. */
  readonly pauseReason: string
}

/** A host that demands nothing. */
const NO_RULES: HostRules = {
  findRefusal: () => undefined,
  pauseAfter: () => 0,
  countFailure: () => {},
  pauseReason: '',
}
