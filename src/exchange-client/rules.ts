import { BINANCE } from '../http/base-url.js'
import type { HostRules, Refusal } from '../http/host-demands.js'
import { parseRetryAfter } from '../http/retry.js'
import { rateLimited, refused } from '../http/service-errors.js'
import type { WholeResponse } from '../http/transport/transport.js'
import { trimPeriod } from '../klines/text.js'
import { parseFault } from './errors.js'
import { callWeight, WeightCounter } from './query.js'

/** The exchange's limits and refusals. */
export class ExchangeRules implements HostRules {
  readonly pauseReason = 'half the request limit is used'
  private readonly weight = new WeightCounter()

  constructor(
    private readonly baseUrl: string,
    /** This machine's clock, ms UTC. */
    private readonly now: () => number,
  ) {}

  findRefusal(response: WholeResponse): Refusal | undefined {
    return findRefusal(this.baseUrl, response, this.now())
  }

  pauseAfter(response: WholeResponse, path: string): number {
    const servedMs = Date.parse(response.headers.date ?? '')
    return this.weight.add(response, callWeight(path), Number.isNaN(servedMs) ? this.now() : servedMs)
  }

  countFailure(path: string): void {
    this.weight.addFailure(callWeight(path))
  }
}

/** The shortest ban, ms: https://github.com/binance/binance-spot-api-docs, rest-api.md, "LIMITS". */
const SHORTEST_BAN_MS = 2 * 60_000

const STATIC_SERVICE = 'The static klines service has ten symbols: leave `baseUrl` out.'

/** After a refusal without a time, a long-running server asks again, ms. */
const REFUSED_MS = 10 * 60_000

/**
 * The refusal in an answer after which no further request may be sent: 418 is a ban, 403 the firewall, 451 the region. Undefined
 * for any other answer. `now`: this machine's clock, ms UTC.
 */
export function findRefusal(baseUrl: string, response: WholeResponse, now: number): Refusal | undefined {
  const { status } = response
  if (status === 418) {
    const untilTime = now + banLength(response, now)
    const advice =
      'Wait until then: each request before that makes the ban longer. Other programs on this address count too.'
    return { error: rateLimited(baseUrl, status, untilTime, advice), untilTime }
  }
  const refusal = status === 403 ? FIREWALL : status === 451 ? describeRegion(baseUrl, response) : undefined
  return refusal && { error: refused(baseUrl, status, refusal.reason, refusal.advice), untilTime: now + REFUSED_MS }
}

const FIREWALL = {
  reason: 'its firewall blocks this address, or too many requests came from it',
  advice: [
    'Wait some minutes, then run the same command again with a lower `concurrency`; what was downloaded stays in the mirror.',
    STATIC_SERVICE,
  ],
}

function describeRegion(baseUrl: string, { body }: WholeResponse): typeof FIREWALL {
  const words = trimPeriod(parseFault(body)?.message ?? '')
  const host = "`baseUrl: 'binance'` is its host for market data alone, which serves more regions."
  return {
    reason: `it does not serve this region${words ? `: ${words}` : ''}`,
    advice: [...(baseUrl === BINANCE ? [] : [host]), STATIC_SERVICE],
  }
}

/** How long a ban lasts from now, ms: from Retry-After, else from the message, which has the time of its end in ms. */
function banLength({ headers, body }: WholeResponse, now: number): number {
  const [, until] = /banned until (\d{13})/.exec(parseFault(body)?.message ?? '') ?? []
  const lengths = [parseRetryAfter(headers['retry-after'], now), until && Number(until) - now, SHORTEST_BAN_MS]
  return lengths.find(ms => Number(ms) > 0) as number
}
