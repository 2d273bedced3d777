import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { COLUMN_KINDS, COLUMNS, type ColumnKind } from '../candles/columns.js'
import { type Interval, isMinutes } from '../candles/intervals.js'
import { intervalSegment, SYMBOLS_PATH } from '../candles/paths.js'
import { SYMBOLS } from '../candles/symbols.js'
import { windowLength } from '../candles/windows.js'
import { API_SPECS } from '../greeting/client.js'
import { knownDates } from '../mirror/status.js'
import { sendBody } from './body.js'
import { isFromOtherSite } from './hosts.js'
import type { Api, Operation } from './openapi.js'
import type { ServedMirror } from './served-mirror.js'
import type { Tree, TreeFile } from './tree.js'

/** The klines API: the paths of the public service, for all intervals. Those of 1m, 3m and 5m are described when the mirror may have them. */
export function treeApi(tree: Tree): Api {
  // Parameters are not validated: as with any static tree, an unknown symbol or date is 404 and never 400.
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const [path] = (request.raw.url ?? '').slice(1).split('?', 1)
    const name = path.includes('%') ? decodeURIComponent(path) : path
    const file = tree.file(name, !isFromOtherSite(request.raw))
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
    spec: { path: API_SPECS.klines, tag: 'meta' },
    routes: urls.map(url => ({ method: 'GET', url, handler })),
    operations: () => describeTree(tree),
  }
}

/** Header fields of what could not be revalidated (RFC 7234, 5.5.4); later RFCs have no field that replaces Warning. */
export function staleHeaders({ message }: Error): Record<string, string> {
  return { warning: `111 klines "Revalidation Failed: ${quotable(message)}"`, 'cache-control': 'no-cache' }
}

/** A text for a quoted string of a header field, which cannot carry all characters. */
export function quotable(text: string): string {
  return text.replace(/[^ -~]|["\\]/g, "'")
}

function describeTree({ mirror, now }: Tree): Operation[] {
  const { intervals } = mirror
  const symbol = symbolSchema(mirror)
  const json = (description: string, schema: TSchema) => ({ description, content: { 'application/json': schema } })
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
      summary: 'The start dates of all windows of an interval, ascending, also of the future',
      tag: 'meta',
      params: Type.Object({ interval: intervalSchema(intervals.map(intervalSegment)) }),
      response: json('Start dates', Type.Array(Type.String({ format: 'date' }))),
      errors: { 404: 'There is no such interval' },
    },
    ...intervals.map(
      (interval): Operation => ({
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
      }),
    ),
  ]
}

/** Schema of a symbol: one of those that the service lists; of the exchange any name, because it may get any other. */
export function symbolSchema(mirror: ServedMirror): TSchema {
  const details = { $id: 'Symbol', description: 'Trading pair' }
  if (mirror.rules.kind !== 'exchange')
    return Type.Enum([...(mirror.listedSymbols() ?? SYMBOLS)], { ...details, type: 'string' })
  // Of ASCII only A-Z and 0-9. Not every reader of a schema knows `\p{L}`, for letters of any script.
  return Type.String({ ...details, pattern: '^[^\\x00-/:-@\\[-\\x7f]{2,40}$', examples: ['BTCUSDT'] })
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

const INTEGER = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const ELEMENTS: Record<ColumnKind, object> = {
  time: { ...INTEGER, description: 'ms since the epoch, UTC' },
  count: { ...INTEGER, description: 'Number of trades' },
  decimal: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  text: { type: 'string', description: 'Unused' },
}

/** A tuple as in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
const KLINE = Type.Unsafe({
  $id: 'Kline',
  description: 'A candle, as the exchange lays it out',
  type: 'array',
  prefixItems: COLUMNS.map((title, index) => ({ title, ...ELEMENTS[COLUMN_KINDS[index]] })),
  items: false,
  minItems: COLUMNS.length,
  maxItems: COLUMNS.length,
})
