import type { IncomingMessage } from 'node:http'
import type { LoggedRequest } from '../servers/scripted-server.js'

/** What a request is for, by its path after that of the version. */
const KINDS = {
  klines: 'klines',
  'ticker/price': 'prices',
  exchangeInfo: 'exchangeInfo',
  time: 'time',
  ping: 'ping',
} as const
const FUTURES_KINDS = {
  ...KINDS,
  markPriceKlines: 'markPriceKlines',
  indexPriceKlines: 'indexPriceKlines',
  fundingRate: 'fundingRate',
  fundingInfo: 'fundingInfo',
} as const
const ROOTS = [
  ['api/v3/', KINDS],
  ['fapi/v1/', FUTURES_KINDS],
] as const

/** What each request costs. */
const WEIGHTS: Readonly<Record<string, number>> = {
  klines: 2,
  prices: 4,
  exchangeInfo: 20,
  time: 1,
  ping: 1,
}

/** What each request of futures costs; with a wrong limit as with the largest. */
function futuresWeight({ kind, query, limit }: Pick<ExchangeRequest, 'kind' | 'query' | 'limit'>): number {
  if (kind === 'prices') return query.has('symbol') ? 1 : 2
  if (kind === 'fundingRate' || kind === 'fundingInfo') return 0
  if (!kind.endsWith('lines')) return 1
  if (!query.has('limit')) return 5
  if (limit === undefined || limit > 1000) return 10
  return limit > 499 ? 5 : limit > 99 ? 2 : 1
}

/** A request that the exchange received. */
export interface ExchangeRequest extends LoggedRequest {
  readonly kind: (typeof FUTURES_KINDS)[keyof typeof FUTURES_KINDS] | 'other'
  /** The exchange's clock when the request came in, ms UTC. */
  readonly time: number
  readonly weight: number
  readonly query: URLSearchParams
  readonly symbol?: string
  readonly interval?: string
  readonly startTime?: number
  readonly endTime?: number
  readonly limit?: number
}

/** Parses a request; numbers that are not written in digits are left out. */
export function parseRequest(logged: LoggedRequest, time: number, isFutures = false): ExchangeRequest {
  const { pathname, searchParams: query } = new URL(logged.path, 'http://exchange/')
  const [root, kinds] = ROOTS[Number(isFutures)]
  const path = pathname.slice(1)
  const name = path.slice(root.length)
  const kind: ExchangeRequest['kind'] =
    path.startsWith(root) && Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : 'other'
  const readNumber = (name: string) => {
    const text = query.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  }
  const request = {
    kind,
    time,
    query,
    symbol: query.get('symbol') ?? undefined,
    interval: query.get('interval') ?? undefined,
    startTime: readNumber('startTime'),
    endTime: readNumber('endTime'),
    limit: readNumber('limit'),
  }
  const weight = isFutures ? futuresWeight(request) : (WEIGHTS[kind] ?? 1)
  // The status of the log's entry changes later: the same object has to stay in the log.
  return Object.assign(logged, request, { weight })
}

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  klines: ['symbol', 'interval', 'startTime', 'endTime', 'limit'],
  markPriceKlines: ['symbol', 'interval', 'startTime', 'endTime', 'limit'],
  indexPriceKlines: ['pair', 'interval', 'startTime', 'endTime', 'limit'],
  fundingRate: ['symbol', 'startTime', 'endTime', 'limit'],
}
const FORBIDDEN_HEADERS = ['x-mbx-apikey', 'x-mbx-time-unit']

/** What the client must not send: parameters that change the candles, headers of an account, or spot's largest answer. */
export function findViolations({ method }: IncomingMessage, request: ExchangeRequest, isFutures = false): string[] {
  const { kind, path, query, headers } = request
  const allowed = PARAMETERS[kind] ?? []
  return [
    ...(method === 'GET' ? [] : [`method ${method}: ${path}`]),
    ...(kind === 'exchangeInfo' && !isFutures ? [`exchangeInfo: ${path}`] : []),
    ...(kind === 'other' ? [`unknown path: ${path}`] : []),
    ...[...query.keys()].filter(name => !allowed.includes(name)).map(name => `parameter ${name}: ${path}`),
    ...FORBIDDEN_HEADERS.filter(name => name in headers).map(name => `header ${name}: ${path}`),
  ]
}
