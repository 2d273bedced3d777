import { type Market, marketName, marketOf } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { approximateLength, type Interval, MINUTE_MS } from '../candles/intervals.js'
import { parseObject } from '../candles/json.js'
import type { Series } from '../candles/series.js'
import { trimPeriod } from '../candles/text.js'
import { firstStartDate, type WindowSpan, windowSpan } from '../candles/windows.js'
import { nameStatus, rateLimited } from './errors.js'
import { cleanText, FetchError, toStatusError } from './fetch-error.js'
import type { HostRules, Stop } from './fetcher.js'
import { isTransientStatus, parseRetryAfter } from './retry.js'
import type { WholeResponse } from './transport.js'

/** What a call takes of the limit of a minute; the few others take 1 to 4. */
const KLINES_WEIGHT = 2
/** Funding has a limit of its own, 500 calls in 5 minutes: 50 a minute are half. */
const FUNDING_WEIGHT = 24

/** The calls that a whole window of an interval takes; one whose candles end early, in an outage, takes one more. */
export function windowCalls(interval: Interval, { pageRows }: Market): number {
  const { startTime, endTime } = windowSpan({ interval, startDate: firstStartDate(interval) })
  return Math.ceil((endTime - startTime) / approximateLength(interval) / pageRows)
}

/**
 * The path of the call for the first candles of a span; weight 2. Its times are inclusive, by open time
 * (https://github.com/binance/binance-spot-api-docs, rest-api.md, "Kline/Candlestick data").
 */
export function candlesCall(market: Market, series: Series, { startTime, endTime }: WindowSpan): string {
  return `${seriesCall(market, series)}&startTime=${startTime}&endTime=${endTime - 1}&limit=${market.pageRows}`
}

/** The path of the call for the first candle of a series; weight 2 at the most. */
export function firstCandleCall(market: Market, series: Series): string {
  return `${seriesCall(market, series)}&startTime=0&limit=1`
}

function seriesCall({ api, candles, symbol: parameter }: Market, { symbol, interval }: Series): string {
  return `${api}/${candles}?${parameter}=${encodeURIComponent(symbol)}&interval=${interval}`
}

/** The Date of a response has whole seconds. */
const MARGIN_MS = 500

/** How long calls for candles take by the budget, ms. */
export function callsLimitMs(calls: number, { weightBudget }: Market): number {
  return (calls * KLINES_WEIGHT * MINUTE_MS) / weightBudget
}

/** Codes of errors.md beside it. */
const INVALID_SYMBOL = -1121
/** An unknown error, a disconnect, a timeout, an overload. */
const TRANSIENT_CODES = new Set([-1000, -1001, -1007, -1008])

/** Parses the body of an error: `{"code":-1121,"msg":"Invalid symbol."}`; undefined for any other body. The message is one clean line. */
export function parseFault(body: Buffer): { readonly code: number; readonly message: string } | undefined {
  const { code, msg } = parseObject(body.toString('utf8')) ?? {}
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return undefined
  return { code, message: typeof msg === 'string' ? cleanText(msg) : '' }
}

/** A symbol that the exchange does not know. */
export class InvalidSymbolError extends FetchError {}

/** The error of an answer that is not what was requested. */
export function findError(response: WholeResponse): FetchError | undefined {
  const { status, body } = response
  const fault = parseFault(body)
  if (fault === undefined) return status === 200 ? undefined : toStatusError(response)
  const message = `status ${status}${fault.message && `: ${fault.message}`} (code ${fault.code})`
  if (status === 200) return new FetchError('invalid', message, { status })
  if (fault.code === INVALID_SYMBOL) {
    const reason = `the exchange does not know this symbol, leave it out (${message})`
    return new InvalidSymbolError('permanent', reason, { status })
  }
  const isTransient = isTransientStatus(status) || TRANSIENT_CODES.has(fault.code)
  return new FetchError(isTransient ? 'transient' : 'permanent', message, { status, unreachable: isTransient })
}

/** The shortest ban, ms: rest-api.md, "LIMITS". */
const SHORTEST_BAN_MS = 2 * 60_000
/** After a refusal without a time, a long-running server asks again, ms. */
const REFUSED_MS = 10 * 60_000
const STATIC_SERVICE = 'The static klines service has ten symbols of the spot market: leave --base-url out.'

/**
 * The exchange's limits and refusals. When half of the limit of a minute is used, requests pause to the next one: by the answer's own figure
 * (`X-MBX-USED-WEIGHT-1M`, which other programs on this address add to) or else by our count. `name`: of the source; `now`: this machine's
 * clock, ms UTC.
 */
export function exchangeRules(name: string, { weightBudget }: Market, now: () => number): HostRules {
  /** Of the exchange's clock, since the epoch. */
  let minute = 0
  let weight = 0
  return {
    pauseReason: 'half the request limit is used',
    stopAfter: response => findRefusal(name, response, now()),
    pauseAfter: ({ status, headers }, path) => {
      const date = Date.parse(headers.date ?? '')
      const servedMs = Number.isNaN(date) ? now() : date
      const servedMinute = Math.floor(servedMs / MINUTE_MS)
      if (servedMinute > minute) weight = 0
      minute = Math.max(minute, servedMinute)
      // A late answer of the minute before is not one of this minute.
      if (servedMinute === minute) weight += path?.includes('funding') ? FUNDING_WEIGHT : KLINES_WEIGHT
      const header = headers['x-mbx-used-weight-1m']
      const used = header !== undefined && /^\d+$/.test(header) ? Number(header) : weight
      // A few more requests after a 429 are a ban: without a time to come back, the next minute is one.
      const isRefused = status === 429 && !parseRetryAfter(headers['retry-after'], servedMs)
      const isOver = used >= weightBudget || isRefused
      return isOver ? Math.min(MINUTE_MS, MINUTE_MS - (servedMs % MINUTE_MS) + MARGIN_MS) : 0
    },
  }
}

/** The refusal in an answer that ends all requests: 418 is a ban, 403 the firewall, 451 the region, and so is a 403 about countries. */
export function findRefusal(name: string, { status, headers, body }: WholeResponse, now: number): Stop | undefined {
  if (status === 418) {
    const untilTime = now + (parseRetryAfter(headers['retry-after'], now) || SHORTEST_BAN_MS)
    const advice =
      'Wait until then: each request before that makes the ban longer. Other programs on this address count too.'
    return { error: rateLimited(name, status, untilTime, [advice]), untilTime }
  }
  if (status !== 403 && status !== 451) return undefined
  const words = trimPeriod(parseFault(body)?.message ?? '')
  const region = `it does not serve this region${words ? `: ${words}` : ''}`
  const firewall = 'its firewall blocks this address, or too many requests came from it'
  const wait =
    'Wait some minutes, then run the same command again with a lower --concurrency; what was downloaded stays in the mirror.'
  const isRegion = status === 451 || /\b(country|countries|regions?|restricted location)\b/i.test(String(body))
  const { regionAdvice } = (marketName(name) !== name && marketOf(name)) || {}
  const advice = isRegion ? (regionAdvice ?? []) : wait
  const message = `${name} answered ${nameStatus(status)}: ${isRegion ? region : firewall}.`
  const details = { suggestions: [advice, STATIC_SERVICE].flat(), data: { baseUrl: name, status } }
  return { error: new KlinesError('unreachable', message, details), untilTime: now + REFUSED_MS }
}
