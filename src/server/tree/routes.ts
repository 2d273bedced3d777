import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { INTERVALS, type Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH } from '../../klines/paths.js'
import { windowLength } from '../../klines/windows.js'
import { IntervalSchema, KlineSchema, SymbolSchema, startDateSchema } from '../../klines-client/schema.js'
import type { Endpoint } from '../endpoint.js'
import { sendBody } from '../http/send-body.js'
import { mayRepeat, type Sent } from '../repeats.js'
import type { Tree, TreeFile } from './tree.js'

/** Endpoints 1 to 7 of service.md, and the form of 3 to 7 for all intervals (observed.md). */
export function treeEndpoints(tree: Tree): Endpoint[] {
  const handler = (request: FastifyRequest, reply: FastifyReply) => sendFile(tree, request, reply)
  return [
    {
      method: 'GET',
      path: `/${SYMBOLS_PATH}`,
      operationId: 'getSymbols',
      summary: 'The trading pairs, in their fixed order',
      tag: 'meta',
      answer: json('Symbols', Type.Array(SymbolSchema)),
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
      params: Type.Object({ interval: IntervalSchema }),
      answer: json('Start dates', Type.Array(Type.String({ format: 'date' }))),
      refusals: { 404: 'There is no such interval' },
      handler,
    },
    ...INTERVALS.map(interval => windowEndpoint(interval, handler)),
  ]
}

function windowEndpoint(interval: Interval, handler: Endpoint['handler']): Endpoint {
  return {
    method: 'GET',
    path: `/api/klines/${interval}/{symbol}/{startDate}.json`,
    operationId: `getKlines${interval}`,
    summary: `The ${interval} candles of a window, ascending by open time`,
    description:
      `A window covers ${windowLength(interval)}. A candle belongs to the window in which it opens; only closed ones ` +
      'are served. Before the listing of a symbol, and in the future, a window is empty.',
    tag: 'klines',
    params: Type.Object({ symbol: SymbolSchema, startDate: startDateSchema(interval) }),
    answer: json('Candles', Type.Array(KlineSchema)),
    refusals: { 404: 'There is no such symbol or window, or this server does not have it' },
    handler,
  }
}

function json(description: string, schema: TSchema): Endpoint['answer'] {
  return { description, content: { 'application/json': schema }, revalidates: true }
}

/** The path a request names, relative to the tree: no query, %-escapes undone. */
function parsePath(url: string): string {
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  const tail = path.startsWith('/') ? path.slice(1) : new URL(path).pathname.slice(1)
  return tail.includes('%') ? decodeURIComponent(tail) : tail
}

/** What a path may be is the grammar's to say: what it does not know is 404, as with any static tree, and never 400. */
function sendFile(tree: Tree, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  const path = parsePath(request.url)
  const file = tree.file(path)
  return file instanceof Promise
    ? file.then(it => sendTreeFile(path, it, request, reply))
    : sendTreeFile(path, file, request, reply)
}

function sendTreeFile(
  path: string,
  file: TreeFile,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { body, warning } = file
  // What the service says may be in the message: a header field has no room for all of it.
  // RFC 7234, 5.5.4 and 5.5.5; later RFCs dropped the field, and have no other that says as much.
  const stale = warning && {
    warning: `111 klines "Revalidation Failed: ${warning.message.replace(/[^ -~]|["\\]/g, "'")}"`,
    'cache-control': 'no-cache',
  }
  const done = (sent: Sent) => mayRepeat(request.raw, { ...sent, path, file })
  const sent = sendBody(request, reply, body, stale)
  if (sent instanceof Promise) return sent.then(done)
  done(sent)
}
