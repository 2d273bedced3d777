import type { IncomingMessage } from 'node:http'
import type { LoggedRequest } from '../servers/scripted-server.js'

const KINDS = {
  'api/v3/klines': 'klines',
  'api/v3/ticker/price': 'prices',
  'api/v3/exchangeInfo': 'exchangeInfo',
  'api/v3/time': 'time',
  'api/v3/ping': 'ping',
  'fapi/v1/klines': 'klines',
  'fapi/v1/markPriceKlines': 'markPriceKlines',
  'fapi/v1/indexPriceKlines': 'indexPriceKlines',
  'fapi/v1/ticker/price': 'prices',
  'fapi/v1/exchangeInfo': 'exchangeInfo',
  'fapi/v1/time': 'time',
  'fapi/v1/fundingRate': 'fundingRate',
  'fapi/v1/fundingInfo': 'fundingInfo',
} as const

/** What each request costs; others cost 1. */
const WEIGHTS: Readonly<Partial<Record<ExchangeRequest['kind'], number>>> = {
  klines: 2,
  prices: 4,
  exchangeInfo: 20,
}

/** What a request of futures costs; one with a wrong limit as much as the largest. */
function futuresWeight(kind: ExchangeRequest['kind'], query: URLSearchParams): number {
  if (kind === 'prices') return query.has('symbol') ? 1 : 2
  if (kind === 'fundingRate' || kind === 'fundingInfo') return 0
  if (!isCandles(kind)) return 1
  const limit = Number(query.get('limit') ?? 1000)
  if (limit <= 99) return 1
  if (limit <= 499) return 2
  return limit <= 1000 ? 5 : 10
}

/** Whether a request is for candles of any kind. */
export function isCandles(kind: string): boolean {
  return /klines$/i.test(kind)
}

/** A request that the exchange received. */
export interface ExchangeRequest extends LoggedRequest {
  readonly kind: (typeof KINDS)[keyof typeof KINDS] | 'other'
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
export function parseRequest(logged: LoggedRequest, time: number, isFutures: boolean): ExchangeRequest {
  const { pathname, searchParams: query } = new URL(logged.path, 'http://exchange/')
  const isOfMarket = isFutures === pathname.startsWith('/fapi/')
  const kind: ExchangeRequest['kind'] = (isOfMarket && KINDS[pathname.slice(1) as keyof typeof KINDS]) || 'other'
  const readNumber = (name: string) => {
    const text = query.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  }
  const request = {
    kind,
    time,
    weight: isFutures ? futuresWeight(kind, query) : (WEIGHTS[kind] ?? 1),
    query,
    symbol: query.get('symbol') ?? undefined,
    interval: query.get('interval') ?? undefined,
    startTime: readNumber('startTime'),
    endTime: readNumber('endTime'),
    limit: readNumber('limit'),
  }
  // The status of the log's entry changes later: the same object has to stay in the log.
  return Object.assign(logged, request)
}

const SPAN = ['startTime', 'endTime', 'limit']
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  klines: ['symbol', 'interval', ...SPAN],
  markPriceKlines: ['symbol', 'interval', ...SPAN],
  indexPriceKlines: ['pair', 'interval', ...SPAN],
  fundingRate: ['symbol', ...SPAN],
}
const FORBIDDEN_HEADERS = ['x-mbx-apikey', 'x-mbx-time-unit']

/** What the client must not send: parameters that change the candles, headers of an account, or spot's largest answer. */
export function findViolations({ method }: IncomingMessage, request: ExchangeRequest): string[] {
  const { kind, path, query, headers } = request
  const allowed = PARAMETERS[kind] ?? []
  return [
    ...(method === 'GET' ? [] : [`method ${method}: ${path}`]),
    ...(kind === 'exchangeInfo' && path.startsWith('api/') ? [`exchangeInfo: ${path}`] : []),
    ...(kind === 'other' ? [`unknown path: ${path}`] : []),
    ...[...query.keys()].filter(name => !allowed.includes(name)).map(name => `parameter ${name}: ${path}`),
    ...FORBIDDEN_HEADERS.filter(name => name in headers).map(name => `header ${name}: ${path}`),
  ]
}
