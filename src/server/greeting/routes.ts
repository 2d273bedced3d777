import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import Type from 'typebox'
import {
  TokenSchema,
  type UserUpdateResult,
  UserUpdateResultSchema,
  userUpdateSchemas,
} from '../../greeting-client/schema.js'
import type { Endpoint } from '../endpoint.js'
import type { Body } from '../http/body.js'
import { checkAcceptsJson } from '../http/negotiation.js'
import { sendBody } from '../http/send-body.js'
import { greetingTokens, jsonLines } from './token-stream.js'

const TOKEN_TYPES = ['application/jsonl', 'text/plain']

/** Endpoints 8 and 9 of service.md; `strict` takes only what the public instance takes. */
export function greetingEndpoints(strict: boolean): Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/api/users/{id}',
      operationId: 'updateUser',
      summary: 'Update a user, and hear the notification type back',
      description: 'Nothing is stored.',
      tag: 'UserRPC',
      ...userUpdateSchemas(strict),
      answer: { description: 'Updated', content: { 'application/json': UserUpdateResultSchema } },
      refusals: {
        400: 'A field is missing or wrong: cause lists them all',
        413: 'The body is too large',
        415: 'The body is not application/json',
      },
      handler: updateUser,
    },
    {
      method: 'GET',
      path: '/api/streams/tokens',
      operationId: 'streamTokens',
      summary: 'A text, word by word, as JSON Lines',
      description:
        'One object a line, as it comes. The type is application/jsonl where Accept names it, else text/plain. ' +
        'A failure on the way is a last line, {"isError":true,"reason":...}.',
      tag: 'StreamRPC',
      answer: {
        description: 'One object a line',
        content: Object.fromEntries(TOKEN_TYPES.map(type => [type, TokenSchema])),
      },
      handler: streamTokens,
    },
  ]
}

function updateUser(request: FastifyRequest, reply: FastifyReply): UserUpdateResult {
  checkAcceptsJson(request.headers.accept)
  reply.header('cache-control', 'no-store')
  const { id } = request.params as { id: string }
  const { notify } = request.query as { notify: string }
  return { success: true, id, notify }
}

/** Each word leaves at once; the stream ends with its reader. */
function streamTokens(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    'content-type': `${tokenType(request.headers.accept)}; charset=utf-8`,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })
  if (request.method === 'HEAD') return reply.send()
  const left = new AbortController()
  // A response that waits behind another one hears of its reader's leaving through the request alone.
  for (const side of [request.raw, reply.raw]) side.on('close', () => left.abort())
  return reply.send(Readable.from(jsonLines(greetingTokens(left.signal), left.signal), { objectMode: true }))
}

/** JSON Lines for who asks for it by name, text for everybody else (observed.md). */
function tokenType(accept: string | undefined): string {
  const named = accept === undefined ? [] : new Negotiator({ headers: { accept } }).mediaTypes()
  return named.includes('application/jsonl') ? 'application/jsonl' : 'text/plain'
}

/** Endpoint 10, and the same for the klines API: what describes the others. */
export function specEndpoint(path: string, operationId: string, tag: string, document: () => Body): Endpoint {
  return {
    method: 'GET',
    path,
    operationId,
    summary: 'The OpenAPI description of this API',
    tag,
    answer: { description: 'OpenAPI 3.1', content: { 'application/json': Type.Object({}) }, revalidates: true },
    handler: async (request, reply) => {
      await sendBody(request, reply, document())
    },
  }
}
