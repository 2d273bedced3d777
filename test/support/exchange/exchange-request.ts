import type { IncomingMessage } from 'node:http'
import type { LoggedRequest } from '../servers/scripted-server.js'

const KINDS: Readonly<Record<string, ExchangeRequest['kind']>> = {
  'api/v3/klines': 'klines',
  'api/v3/ticker/price': 'prices',
  'api/v3/exchangeInfo': 'exchangeInfo',
  'api/v3/time': 'time',
  'api/v3/ping': 'ping',
}

/** What each request costs. */
const WEIGHTS: Readonly<Record<ExchangeRequest['kind'], number>> = {
  klines: 2,
  prices: 4,
  exchangeInfo: 20,
  time: 1,
  ping: 1,
  other: 1,
}

/** A request that the exchange received. */
export interface ExchangeRequest extends LoggedRequest {
  readonly kind: 'klines' | 'prices' | 'exchangeInfo' | 'time' | 'ping' | 'other'
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
export function parseRequest(logged: LoggedRequest, time: number): ExchangeRequest {
  const { pathname, searchParams: query } = new URL(logged.path, 'http://exchange/')
  const kind = KINDS[pathname.slice(1)] ?? 'other'
  const readNumber = (name: string) => {
    const text = query.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  }
  const request = {
    kind,
    time,
    weight: WEIGHTS[kind],
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

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  klines: ['symbol', 'interval', 'startTime', 'endTime', 'limit'],
}
const FORBIDDEN_HEADERS = ['x-mbx-apikey', 'x-mbx-time-unit']

/** What the client must not send: parameters that change the candles, headers of an account, or the largest answer. */
export function findViolations({ method }: IncomingMessage, request: ExchangeRequest): string[] {
  const { kind, path, query, headers } = request
  const allowed = PARAMETERS[kind] ?? []
  return [
    ...(method === 'GET' ? [] : [`method ${method}: ${path}`]),
    ...(kind === 'exchangeInfo' ? [`exchangeInfo: ${path}`] : []),
    ...(kind === 'other' ? [`unknown path: ${path}`] : []),
    ...[...query.keys()].filter(name => !allowed.includes(name)).map(name => `parameter ${name}: ${path}`),
    ...FORBIDDEN_HEADERS.filter(name => name in headers).map(name => `header ${name}: ${path}`),
  ]
}
