import type { FetchError } from './fetch-error.js'
import { parseHttpDate } from './http-date.js'

/** Limits for retries. All times in ms. */
export interface RetryPolicy {
  readonly tries: number
  /** Tries for a file whose responses are invalid. */
  readonly invalidTries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly attemptMs: number
  /** For all attempts and delays of a file together, without the waits that Retry-After demands. */
  readonly fileMs: number
  /** A longer Retry-After ends the run. */
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

/** For requests that a user waits for and that the mirror can replace; `retries` and `timeout` of a user win over it. */
export const QUICK_POLICY: RetryPolicy = {
  ...RETRY_POLICY,
  tries: 2,
  invalidTries: 1,
  attemptMs: 5_000,
  fileMs: 10_000,
}

/** Statuses that a retry may mend (520 to 524 are Cloudflare's own). */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])

export function isTransientStatus(status: number): boolean {
  return TRANSIENT_STATUSES.has(status)
}

/**
 * The delay before the next try after `failures` failed ones, ms, with full jitter: `random` (0 to 1) of 0.5 s x 2^n, at
 * most 20 s. Undefined when no tries are left.
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
 * Parses a Retry-After header, seconds or an HTTP date (RFC 9110, section 10.2.3), to ms from `now`; 0 for a date that has
 * passed, undefined for anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  const time = parseHttpDate(text, now)
  return time === undefined ? undefined : Math.max(0, time - now)
}
