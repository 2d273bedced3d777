import { parseRetryAfter } from '../http/retry.js'
import type { WholeResponse } from '../http/transport/transport.js'
import { MINUTE_MS } from '../klines/intervals.js'

/** Half of the limit of a minute, 6,000: other programs share it, which is one for each IP address. */
const WEIGHT_BUDGET = 3_000
/** The Date of a response has whole seconds. */
const MARGIN_MS = 500

/** The time in which calls of a weight use the budget, ms. */
export function budgetMs(weight: number): number {
  return (weight * MINUTE_MS) / WEIGHT_BUDGET
}

/** Counts how much of the exchange's limit is used in the present minute of its clock. */
export class WeightCounter {
  /** Minutes since the epoch. */
  private minute = 0
  private own = 0

  /** Adds a request without an answer: the exchange may have counted it. */
  addFailure(weight: number): void {
    this.own += weight
  }

  /**
   * Adds an answered request. Returns how long to send no further one, ms: to the next minute when half of the limit is used,
   * by the answer's own figure (`X-MBX-USED-WEIGHT-1M`, which other programs on this address add to) or else by our count.
   */
  add({ status, headers }: WholeResponse, weight: number, servedMs: number): number {
    const minute = Math.floor(servedMs / MINUTE_MS)
    if (minute > this.minute) {
      this.minute = minute
      this.own = 0
    }
    if (minute === this.minute) this.own += weight
    const header = headers['x-mbx-used-weight-1m']
    const used = header !== undefined && /^\d+$/.test(header) ? Number(header) : this.own
    // A few more requests after a 429 are a ban: without a time to come back, the next minute is one.
    const isRefused = status === 429 && !parseRetryAfter(headers['retry-after'], servedMs)
    const isOver = used >= WEIGHT_BUDGET || isRefused
    return isOver ? Math.min(MINUTE_MS, MINUTE_MS - (servedMs % MINUTE_MS) + MARGIN_MS) : 0
  }
}
