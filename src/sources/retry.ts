import { setTimeout as sleep } from 'node:timers/promises'
import { KlinesError } from '../candles/errors.js'
import { checkValue } from '../options.js'

/** `transient` faults of the network or the server get all tries, `invalid` responses three, `permanent` faults one. */
export type FetchErrorKind = 'transient' | 'invalid' | 'permanent'

/** How often and how long a file is tried. All times in ms. */
export interface RetryPolicy {
  readonly tries: number
  readonly invalidTries: number
  /** The longest delay before the first retry; it doubles with each further one. */
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly attemptMs: number
  /** A longer Retry-After ends the run. */
  readonly maxRetryAfterMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  tries: 6,
  invalidTries: 3,
  baseDelayMs: 500,
  maxDelayMs: 20_000,
  attemptMs: 30_000,
  maxRetryAfterMs: 60_000,
}

/** For requests that a user waits for and that the mirror can replace. */
export const QUICK_POLICY: RetryPolicy = { ...RETRY_POLICY, tries: 2, invalidTries: 1, attemptMs: 5_000 }

/** For zips of megabytes, which the exchange's own answers can replace. */
export const ARCHIVE_POLICY: RetryPolicy = { ...RETRY_POLICY, tries: 2, invalidTries: 1, attemptMs: 120_000 }

/** The delay before the next try, ms, with full jitter: `random` is 0 to 1. Undefined when no tries are left. */
export function retryDelay({ kind }: { kind: FetchErrorKind }, failures: number, random: number, policy: RetryPolicy) {
  const tries = { permanent: 1, invalid: policy.invalidTries, transient: policy.tries }[kind]
  return failures < tries ? random * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1)) : undefined
}

/** Whether a retry may mend a status: 408, 425, 429 and all 5xx but 501 and 505. */
export function isTransientStatus(status: number): boolean {
  return [408, 425, 429].includes(status) || (status >= 500 && status !== 501 && status !== 505)
}

/** A Retry-After header, seconds or a date (RFC 9110, 10.2.3), in ms from `now`. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // `Date.parse` accepts far more, such as `-1`.
  const time = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - now)
}

/** Limits that a user sets for the requests of a run. */
export interface RequestLimits {
  /** Tries after the first one of a file, 0 to 100. Default 5, and 1 for lists that are only shown; at most 2 after an invalid answer. */
  readonly retries?: number | undefined
  /** How long a try may take, seconds, at most 3600, also fractions. Default 30, and 5 for lists that are only shown. */
  readonly timeout?: number | undefined
}

/** A policy with the user's limits in place of its own. Throws `bad_option`. */
export function limitPolicy(policy: RetryPolicy, { retries, timeout }: RequestLimits): RetryPolicy {
  checkValue('retries', { takes: 'number', range: { min: 0, max: 100 } }, retries)
  if (timeout !== undefined && !(timeout > 0 && timeout <= 3_600))
    throw new KlinesError('bad_option', `--timeout is ${timeout}. Expected seconds: a number above 0, at most 3600.`)
  const tries = retries === undefined ? policy.tries : retries + 1
  // undici takes whole numbers alone.
  const attemptMs = timeout === undefined ? policy.attemptMs : Math.ceil(timeout * 1000)
  return { ...policy, tries, invalidTries: Math.min(policy.invalidTries, tries), attemptMs }
}

/** Time as a parameter, so that tests run at any date and without waiting. */
export interface Clock {
  /** ms UTC. */
  now(): number
  /** ms since an arbitrary moment; never goes back. */
  elapsed(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    sleep(ms, undefined, { signal }).catch(error => {
      signal?.throwIfAborted()
      throw error
    }),
}
