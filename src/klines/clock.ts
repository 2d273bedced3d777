/** Time as a parameter: what asks for it can be tested at any date, and without waiting. */
export interface Clock {
  /** ms UTC since the epoch. */
  now(): number
  /** ms since some moment: for how long something takes, whatever becomes of `now` meanwhile. */
  elapsed(): number
  /** Resolves after `ms`; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
