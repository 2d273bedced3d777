/** Time as a parameter, so that tests can run at any date and without waiting. */
export interface Clock {
  /** ms UTC since the epoch. */
  now(): number
  /** ms since an arbitrary moment, to measure durations: never goes back, unlike `now`. */
  elapsed(): number
  /** Resolves after `ms`; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
