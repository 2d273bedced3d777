import { trimPeriod } from '../candles/text.js'
import { BINANCE } from './base-url.js'
import { rateLimited, refused } from './errors.js'
import { callWeight, WeightCounter } from './exchange-calls.js'
import { parseFault } from './exchange-errors.js'
import type { HostRules, Stop } from './fetcher.js'
import { parseRetryAfter } from './retry.js'
import type { WholeResponse } from './transport.js'

/** The shortest ban, ms: https://github.com/binance/binance-spot-api-docs, rest-api.md, "LIMITS". */
const SHORTEST_BAN_MS = 2 * 60_000
/** After a refusal without a time, a long-running server asks again, ms. */
const REFUSED_MS = 10 * 60_000
const STATIC_SERVICE = 'The static klines service has ten symbols: leave --base-url out.'

/** The exchange's limits and refusals. `name`: of the source; `now`: this machine's clock, ms UTC. */
export function exchangeRules(name: string, now: () => number): HostRules {
  const weight = new WeightCounter()
  return {
    pauseReason: 'half the request limit is used',
    stopAfter: response => findRefusal(name, response, now()),
    pauseAfter: (response, path) => {
      const servedMs = Date.parse(response.headers.date ?? '')
      return weight.add(response, callWeight(path), Number.isNaN(servedMs) ? now() : servedMs)
    },
    countFailure: path => weight.addFailure(callWeight(path)),
  }
}

/**
 * The refusal in an answer after which no further request may be sent: 418 is a ban, 403 the firewall, 451 the region. Undefined
 * for any other answer.
 */
export function findRefusal(name: string, response: WholeResponse, now: number): Stop | undefined {
  const { status, body } = response
  if (status === 418) {
    const untilTime = now + banLength(response, now)
    const advice =
      'Wait until then: each request before that makes the ban longer. Other programs on this address count too.'
    return { error: rateLimited(name, status, untilTime, [advice]), untilTime }
  }
  if (status !== 403 && status !== 451) return undefined
  const words = trimPeriod(parseFault(body)?.message ?? '')
  const region = `it does not serve this region${words ? `: ${words}` : ''}`
  const firewall = 'its firewall blocks this address, or too many requests came from it'
  const host = '--base-url binance is its host for market data alone, which serves more regions.'
  const wait =
    'Wait some minutes, then run the same command again with a lower --concurrency; what was downloaded stays in the mirror.'
  const advice = status === 403 ? [wait] : name === BINANCE ? [] : [host]
  const error = refused(name, status, status === 403 ? firewall : region, [...advice, STATIC_SERVICE])
  return { error, untilTime: now + REFUSED_MS }
}

/** How long a ban lasts from now, ms: from Retry-After, else from the message, which has the time of its end in ms. */
function banLength({ headers, body }: WholeResponse, now: number): number {
  const [, until] = /banned until (\d{13})/.exec(parseFault(body)?.message ?? '') ?? []
  const lengths = [parseRetryAfter(headers['retry-after'], now), until && Number(until) - now, SHORTEST_BAN_MS]
  return lengths.find(ms => Number(ms) > 0) as number
}
