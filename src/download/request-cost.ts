import { KlinesError } from '../klines/errors.js'
import { MINUTE_MS } from '../klines/intervals.js'
import { formatCount, plural } from '../klines/text.js'

/** More requests than this, 33 minutes at half the exchange's limit, are sent only when the user says so. */
export const MAX_REQUESTS = 50_000

/** What windows take of a service. */
export interface RequestCost {
  /** Number of requests; one more for a window whose candles end early, in an outage. */
  readonly requests: number
  /** The time of these requests by the limits of the service, ms; 0 without limits. */
  readonly limitMs: number
}

/** The requests to an exchange, and their time if that is minutes, as part of a sentence. */
export function describeCost({ requests, limitMs }: RequestCost): string {
  const minutes = Math.ceil(limitMs / MINUTE_MS)
  const count = `about ${plural(requests, 'request')} to the exchange`
  return minutes > 1 ? `${count}, and at half its limit ${plural(minutes, 'minute')}` : count
}

/** A number of windows, and what each of them takes. */
interface WindowCosts extends RequestCost {
  readonly windows: number
}

/** Throws `bad_option` for windows that take more requests than are sent without a yes. */
export function checkCosts(costs: readonly WindowCosts[]): void {
  const requests = costs.reduce((sum, cost) => sum + cost.windows * cost.requests, 0)
  if (requests <= MAX_REQUESTS) return
  const limitMs = costs.reduce((sum, cost) => sum + cost.windows * cost.limitMs, 0)
  const message = `This takes ${describeCost({ requests, limitMs })}.`
  throw new KlinesError('bad_option', `${message} Expected at most ${formatCount(MAX_REQUESTS)} requests.`, {
    suggestions: ['`manyRequests: true` sends them all; fewer symbols or a range take fewer.'],
    data: { requests },
  })
}
