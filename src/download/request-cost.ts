import { MINUTE_MS } from '../klines/intervals.js'
import { plural } from '../klines/text.js'

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
