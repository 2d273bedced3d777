import type { FetchError } from './fetch-error.js'

/** How hard a file is tried for. All times in ms. */
export interface RetryPolicy {
  readonly tries: number
  /** Tries for an answer that makes no sense. */
  readonly invalidTries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly attemptMs: number
  /** For all attempts and delays of a file together; waits that the service asked for do not count. */
  readonly fileMs: number
  /** The longest Retry-After that is waited for. */
  readonly maxRetryAfterMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  tries: 6,
  invalidTries: 3,
  baseDelayMs: 500,
  maxDelayMs: 20_000,
  attemptMs: 30_000,
  fileMs: 120_000,
  maxRetryAfterMs: 60_000,
}

/** For what is only nice to have: a person waits, and the mirror knows too. */
export const QUICK_POLICY: RetryPolicy = {
  ...RETRY_POLICY,
  tries: 2,
  invalidTries: 1,
  attemptMs: 5_000,
  fileMs: 10_000,
}

/** Statuses worth another try (520 to 524 are a CDN's own). */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])

export function isTransientStatus(status: number): boolean {
  return TRANSIENT_STATUSES.has(status)
}

/**
 * The delay before another try after `failures` failed ones, ms: full jitter, `random` (0 to 1) of 0.5 s x 2^n capped
 * at 20 s. Undefined when there is to be no other try.
 */
export function retryDelay(
  failure: FetchError,
  failures: number,
  random: number,
  policy: RetryPolicy = RETRY_POLICY,
): number | undefined {
  const tries = failure.kind === 'permanent' ? 1 : failure.kind === 'invalid' ? policy.invalidTries : policy.tries
  if (failures >= tries) return undefined
  return random * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1))
}

/**
 * What a Retry-After header asks for, ms from `now`: seconds or an HTTP date (RFC 9110, 10.2.3). A date that has passed
 * asks for nothing; undefined for anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // Date.parse takes almost anything for a date; an HTTP date has a day's name and ends in GMT.
  const time = /^[A-Z][a-z]+,? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - now)
}
