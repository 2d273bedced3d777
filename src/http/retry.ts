import { KlinesError } from '../klines/errors.js'
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

const MAX_RETRIES = 100
/** An hour; a timer of Node cannot wait for more than 24 days. */
const MAX_TIMEOUT_S = 3_600

/** Limits that a user sets for the requests of a run. */
export interface RequestLimits {
  /**
   * Tries after the first one of a file that could not be downloaded, 0 to 100. Default 5, and 1 for lists that are only shown.
   * A response that is not valid is retried twice at most.
   */
  readonly retries?: number | undefined
  /** How long a try of a file may take, seconds, at most 3600; fractions are allowed. Default 30, and 5 for lists that are only shown. */
  readonly timeout?: number | undefined
}

/** Checks the limits of a request. Throws `bad_option`. */
export function checkLimits({ retries, timeout }: RequestLimits): void {
  const isCount = (value: number) => Number.isInteger(value) && value >= 0 && value <= MAX_RETRIES
  const isTime = (value: number) => value > 0 && value <= MAX_TIMEOUT_S
  check('retries', retries, isCount, `a whole number from 0 to ${MAX_RETRIES}`)
  check('timeout', timeout, isTime, `seconds: a number above 0, at most ${MAX_TIMEOUT_S}`)
}

function check(name: string, value: number | undefined, isValid: (value: number) => boolean, expected: string): void {
  if (value === undefined || (typeof value === 'number' && isValid(value))) return
  throw new KlinesError('bad_option', `\`${name}\` is ${value}. Expected ${expected}.`)
}

/** Seconds as whole milliseconds: 1.1 x 1000 is not whole, and undici takes no other number. */
export function toMs(seconds: number): number {
  return Math.ceil(seconds * 1000)
}

/**
 * A policy with the user's limits in place of its own. The time of a file grows as needed: every requested try may
 * take all of its time, and the delays between them too.
 */
export function limitPolicy(policy: RetryPolicy, { retries, timeout }: RequestLimits): RetryPolicy {
  if (retries === undefined && timeout === undefined) return policy
  const tries = retries === undefined ? policy.tries : retries + 1
  const attemptMs = timeout === undefined ? policy.attemptMs : toMs(timeout)
  const fileMs = Math.max(policy.fileMs, tries * attemptMs + (tries - 1) * policy.maxDelayMs)
  return { ...policy, tries, invalidTries: Math.min(policy.invalidTries, tries), attemptMs, fileMs }
}
