import type { IncomingMessage, ServerResponse } from 'node:http'
import Type, { type TSchema } from 'typebox'
import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { intervalSegment, SYMBOLS_PATH } from '../../klines/paths.js'
import type { SymbolName } from '../../klines/symbols.js'
import { windowLength } from '../../klines/windows.js'
import { intervalSchema, KlineSchema, startDateSchema, symbolSchema } from '../../klines-client/schema.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { Endpoint } from '../docs/openapi.js'
import { isFromOtherSite } from '../http/error.js'
import { pathOf } from '../http/router.js'
import { sendBody } from '../http/send-body.js'
import { listSymbols, type Tree, type TreeFile } from './tree.js'

/**
 * The endpoints of the klines service's OpenAPI description, with the path of a window for every interval. Those of 1m, 3m and 5m
 * are described when the mirror may have them.
 */
export function treeEndpoints(tree: Tree): Endpoint[] {
  const intervals = tree.mirror.contents.intervals()
  const symbol = symbolSchema(findSymbols(tree.mirror))
  const handler: Endpoint['handler'] = (request, response) => sendFile(tree, request, response)
  return [
    {
      method: 'GET',
      path: `/${SYMBOLS_PATH}`,
      operationId: 'getSymbols',
      summary: 'The trading pairs, in their fixed order',
      tag: 'meta',
      response: json('Symbols', Type.Array(symbol)),
      handler,
    },
    {
      method: 'GET',
      path: '/api/klines/start-dates/{interval}.json',
      operationId: 'getStartDates',
      summary: 'The start dates of all windows of an interval, ascending',
      tag: 'meta',
      description:
        'Each is the startDate of a window; in order they cover the whole history, and reach into the future.',
      params: Type.Object({ interval: intervalSchema(intervals.map(intervalSegment)) }),
      response: json('Start dates', Type.Array(Type.String({ format: 'date' }))),
      errors: { 404: 'There is no such interval' },
      handler,
    },
    ...EXCHANGE_INTERVALS.map(interval => ({
      ...windowEndpoint(interval, symbol, tree.mirror.rules.startDates(interval, tree.now()), handler),
      isDescribed: intervals.includes(interval),
    })),
  ]
}

/** The symbols of a mirror of a static service; undefined for one of the exchange, which may get any other. */
export function findSymbols(mirror: Mirror): readonly SymbolName[] | undefined {
  return mirror.rules.listsMirrored ? undefined : listSymbols(mirror)
}

function windowEndpoint(
  interval: Interval,
  symbol: TSchema,
  startDates: string[],
  handler: Endpoint['handler'],
): Endpoint {
  return {
    method: 'GET',
    path: `/api/klines/${intervalSegment(interval)}/{symbol}/{startDate}.json`,
    operationId: `getKlines${intervalSegment(interval)}`,
    summary: `The ${interval} candles of a window, ascending by open time`,
    description:
      `A window covers ${windowLength(interval)}. A candle belongs to the window in which it opens; only closed ones ` +
      'are served. Before the listing of a symbol, and in the future, a window is empty.',
    tag: 'klines',
    params: Type.Object({ symbol, startDate: startDateSchema(interval, startDates) }),
    response: json('Candles', Type.Array(KlineSchema)),
    errors: { 404: 'There is no such symbol or window, or this server does not have it' },
    handler,
  }
}

function json(description: string, schema: TSchema): Endpoint['response'] {
  return { description, content: { 'application/json': schema }, revalidates: true }
}

/** The path of a request target, relative to the tree: %-escapes decoded. The router has found its route, so it has one. */
function parsePath(target: string): string {
  const relative = (pathOf(target) ?? '').slice(1)
  return relative.includes('%') ? decodeURIComponent(relative) : relative
}

/** Parameters are not validated: as with any static tree, an unknown symbol or date is 404 and never 400. */
function sendFile(tree: Tree, request: IncomingMessage, response: ServerResponse): void | Promise<void> {
  const served = isFromOtherSite(request) ? tree.mirrored : tree
  const file = served.file(parsePath(request.url ?? ''))
  const send = ({ body, warning }: TreeFile) => sendBody(request, response, body, warning && staleHeaders(warning))
  return file instanceof Promise ? file.then(send) : send(file)
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
