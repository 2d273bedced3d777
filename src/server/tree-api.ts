import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { COLUMNS, type KlineRow } from '../candles/columns.js'
import { type Interval, isMinutes } from '../candles/intervals.js'
import { intervalSegment, SYMBOLS_PATH } from '../candles/paths.js'
import { SYMBOLS } from '../candles/symbols.js'
import { windowLength } from '../candles/windows.js'
import { knownDates } from '../engine/lists.js'
import { isFromOtherSite } from './hosts.js'
import type { Api, Operation } from './openapi.js'
import { sendBody } from './send.js'
import type { ServedMirror } from './served-mirror.js'
import type { Tree, TreeFile } from './tree.js'

/** The klines API: the paths of the public service, for all intervals. Those of 1m, 3m and 5m are described when the mirror may have them. */
export function treeApi(tree: Tree): Api {
  // Parameters are not validated: as with any static tree, an unknown symbol or date is 404 and never 400.
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const file = tree.file(parsePath(request.raw.url ?? ''), !isFromOtherSite(request.raw))
    const send = ({ body, warning }: TreeFile) => sendBody(request, reply, body, warning && staleHeaders(warning))
    return file instanceof Promise ? file.then(send) : send(file)
  }
  const urls = ['symbols.json', 'start-dates/:file', ':interval/:symbol/:file'].map(path => `/api/klines/${path}`)
  return {
    info: {
      title: 'klines API',
      version: '0.1.8',
      description:
        'Historical spot candles as static JSON files, one a calendar window: the list of symbols, the list of start dates ' +
        'of each interval, and a file for every interval, symbol and start date. All times are UTC. HEAD, conditional ' +
        'requests, one byte range, gzip and br are answered everywhere.',
    },
    tags: { meta: 'What there is: symbols, start dates and this description', klines: 'Candles, one file a window' },
    specTag: 'meta',
    routes: urls.map(url => ({ method: 'GET', url, handler })),
    operations: () => describeTree(tree),
  }
}

/** The path of a request target, relative to the tree: %-escapes decoded, which the router has found valid. */
function parsePath(target: string): string {
  const query = target.indexOf('?')
  const path = target.slice(1, query === -1 ? undefined : query)
  return path.includes('%') ? decodeURIComponent(path) : path
}

/**
 * Header fields of what could not be revalidated: RFC 7234, 5.5.4 and 5.5.5; later RFCs dropped Warning, and have no field that
 * replaces it. The message may quote the service, and a header field cannot carry all of its characters.
 */
export function staleHeaders({ message }: Error): Record<string, string> {
  return { warning: `111 klines "Revalidation Failed: ${quotable(message)}"`, 'cache-control': 'no-cache' }
}

/** A text for a quoted string of a header field. */
export function quotable(text: string): string {
  return text.replace(/[^ -~]|["\\]/g, "'")
}

/** The operations of the klines service's OpenAPI description. */
function describeTree({ mirror, now }: Tree): Operation[] {
  const { intervals } = mirror
  const symbol = symbolSchema(mirror)
  return [
    {
      method: 'get',
      path: `/${SYMBOLS_PATH}`,
      operationId: 'getSymbols',
      summary: 'The trading pairs, in their fixed order',
      tag: 'meta',
      response: json('Symbols', Type.Array(symbol)),
    },
    {
      method: 'get',
      path: '/api/klines/start-dates/{interval}.json',
      operationId: 'getStartDates',
      summary: 'The start dates of all windows of an interval, ascending',
      tag: 'meta',
      description:
        'Each is the startDate of a window; in order they cover the whole history, and reach into the future.',
      params: Type.Object({ interval: intervalSchema(intervals.map(intervalSegment)) }),
      response: json('Start dates', Type.Array(Type.String({ format: 'date' }))),
      errors: { 404: 'There is no such interval' },
    },
    ...intervals.map((interval): Operation => {
      return {
        method: 'get',
        path: `/api/klines/${intervalSegment(interval)}/{symbol}/{startDate}.json`,
        operationId: `getKlines${intervalSegment(interval)}`,
        summary: `The ${interval} candles of a window, ascending by open time`,
        description:
          `A window covers ${windowLength(interval)}. A candle belongs to the window in which it opens; only closed ones ` +
          'are served. Before the listing of a symbol, and in the future, a window is empty.',
        tag: 'klines',
        params: Type.Object({ symbol, startDate: startDateSchema(interval, knownDates(mirror, interval, now())) }),
        response: json('Candles', Type.Array(KLINE)),
        errors: { 404: 'There is no such symbol or window, or this server does not have it' },
      }
    }),
  ]
}

function json(description: string, schema: TSchema): Operation['response'] {
  return { description, content: { 'application/json': schema }, revalidates: true }
}

/** Of ASCII only A-Z and 0-9. Not every reader of a schema knows `\p{L}`, for letters of any script. */
const NAME = '^[^\\x00-/:-@\\[-\\x7f]{2,40}$'

/** Schema of a symbol: one of those that the service lists; of the exchange any name, because it may get any other. */
export function symbolSchema(mirror: ServedMirror): TSchema {
  const $id = 'Symbol'
  if (mirror.rules.kind !== 'exchange') {
    const listed = mirror.listedSymbols() ?? SYMBOLS
    return Type.Enum([...listed], { $id, description: 'Trading pair', type: 'string' })
  }
  const description = 'Trading pair: letters and digits of any script, in upper case, composed (NFC), at most 40 bytes'
  return Type.String({ $id, description, pattern: NAME, examples: ['BTCUSDT'] })
}

/** Schema of an interval. `names`: as people write them, or as paths have them. */
export function intervalSchema(names: readonly string[]): TSchema {
  const description = 'Length of a candle; 1M is a calendar month'
  return Type.Enum([...names], { $id: 'Interval', type: 'string', description })
}

/** Schema of the startDates of an interval: any day for 1m, 3m and 5m. */
function startDateSchema(interval: Interval, startDates: readonly string[]): TSchema {
  const description = `First day of a ${interval} window, UTC`
  const details = { $id: `StartDate${intervalSegment(interval)}`, format: 'date', description }
  return isMinutes(interval) ? Type.String(details) : Type.Enum([...startDates], { ...details, type: 'string' })
}

/** What each element of a row is: a time or a count, a decimal, or text. */
const ELEMENTS = [
  ['integer', 'Open time, ms since the epoch, UTC'],
  ['decimal', 'Open price'],
  ['decimal', 'High price'],
  ['decimal', 'Low price'],
  ['decimal', 'Close price'],
  ['decimal', 'Base asset volume'],
  ['integer', 'Close time, ms since the epoch, UTC'],
  ['decimal', 'Quote asset volume'],
  ['integer', 'Number of trades'],
  ['decimal', 'Taker buy base asset volume'],
  ['decimal', 'Taker buy quote asset volume'],
  ['text', 'Unused legacy field'],
] as const

const TYPES = {
  integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  decimal: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  text: { type: 'string' },
} as const

/** A tuple as in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
const KLINE = Type.Unsafe<KlineRow>({
  $id: 'Kline',
  description: 'A candle, as the exchange lays it out',
  type: 'array',
  prefixItems: ELEMENTS.map(([type, description], index) => ({ title: COLUMNS[index], ...TYPES[type], description })),
  items: false,
  minItems: ELEMENTS.length,
  maxItems: ELEMENTS.length,
})
