import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Validator } from 'typebox/compile'
import { KlinesError } from '../candles/errors.js'
import { API_SPECS, TOKENS_PATH } from '../greeting/client.js'
import { TokenSchema, USER_UPDATE, type UserUpdateResult, UserUpdateResultSchema } from '../greeting/schemas.js'
import { CORS_HEADERS, HttpError } from './errors.js'
import type { Api, Operation } from './openapi.js'

/** What the token stream says by default. */
const DEFAULT_STREAM_TEXT = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'
/** The pace of the public instance. */
export const WORD_MS = 200

/**
 * The greeting API: user updates, and a stream that says `streamText` word by word. Throws `bad_option` for a text without words: clients
 * could not tell its stream from a broken one.
 */
export function greetingApi(streamText = DEFAULT_STREAM_TEXT): Api {
  // Each with the white space before it, the last also with that behind it: joined, they are the text again.
  const words = streamText.match(/\s*\S+(\s+$)?/g)
  if (!words) {
    const message = `--stream-text is ${JSON.stringify(streamText)}. Expected a text with at least one word.`
    throw new KlinesError('bad_option', message)
  }
  return {
    // The title of the public instance.
    info: {
      title: '"Hello World" app API',
      version: '1.0.0',
      description: 'Update a user, stream tokens, and this description.',
    },
    tags: { UserRPC: 'Users', StreamRPC: 'Streams', OpenApiRPC: 'This description' },
    spec: { path: API_SPECS.greeting, tag: 'OpenApiRPC' },
    routes: [
      { method: 'POST', url: '/api/users/:id', handler: updateUser },
      { method: 'GET', url: `/${TOKENS_PATH}`, handler: (request, reply) => streamTokens(words, request, reply) },
    ],
    operations: (): Operation[] => [
      {
        method: 'post',
        path: '/api/users/{id}',
        operationId: 'updateUser',
        summary: 'Update a user, and hear the notification type back',
        description: 'Nothing is stored.',
        tag: 'UserRPC',
        ...USER_UPDATE,
        response: { description: 'Updated', content: { 'application/json': UserUpdateResultSchema } },
        errors: {
          400: 'A field is missing or wrong: cause lists them all',
          413: 'The body is too large',
          415: 'The body is not application/json',
        },
      },
      {
        method: 'get',
        path: `/${TOKENS_PATH}`,
        operationId: 'streamTokens',
        summary: 'A text, word by word, as JSON Lines',
        description:
          'One object a line, as it comes. The type is application/jsonl where Accept names it, else text/plain.',
        tag: 'StreamRPC',
        response: {
          description: 'One object a line',
          content: { 'application/jsonl': TokenSchema, 'text/plain': TokenSchema },
        },
      },
    ],
  }
}

let validator: Promise<Validator> | undefined

async function updateUser({ params, query, body }: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Most servers never get such a request, and compiling takes a while.
  validator ??= import('typebox/compile').then(({ Compile }) => Compile(Type.Object(USER_UPDATE)))
  const parts = { params: { ...(params as { id: string }) }, query: { ...(query as { notify: string }) }, body }
  checkFields(await validator, parts)
  const result: UserUpdateResult = { success: true, id: parts.params.id, notify: parts.query.notify }
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(result))
}

/** Throws `HttpError` 400 with every field of the parts of a request that the schema rejects. */
function checkFields(schema: Validator, parts: Readonly<Record<keyof typeof USER_UPDATE, unknown>>): void {
  if (schema.Check(parts)) return
  const faults = schema.Errors(parts).flatMap(({ instancePath, keyword, params, message }) => {
    const path = instancePath.split('/').slice(1)
    if (keyword !== 'required') return [{ field: path.join('.'), message }]
    const { requiredProperties } = params as { requiredProperties: string[] }
    return requiredProperties.map(name => ({ field: [...path, name].join('.'), message: 'is missing' }))
  })
  const [{ field, message }] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  throw new HttpError(400, `${field} ${message}${more}.`, { cause: faults })
}

/** Sends each word at once; stops when the client disconnects. */
function streamTokens(words: readonly string[], { raw: request }: FastifyRequest, reply: FastifyReply): void {
  const response = reply.hijack().raw
  // JSON Lines when Accept names it, else plain text, as the public instance does.
  const type = request.headers.accept?.includes('application/jsonl') ? 'application/jsonl' : 'text/plain'
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    ...CORS_HEADERS,
    'x-content-type-options': 'nosniff',
  })
  if (request.method === 'HEAD') return void response.end()
  const disconnected = new AbortController()
  // A response that is queued behind another one gets no 'close' event; its request does.
  for (const side of [request, response]) side.on('close', () => disconnected.abort())
  pipeline(Readable.from(wordTokens(words, disconnected.signal)), response, () => {})
}

/** Words as tokens in JSON Lines, one every `WORD_MS`. */
async function* wordTokens(words: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  for (const [index, message] of words.entries()) {
    if (index > 0) await sleep(WORD_MS, undefined, { signal })
    yield `${JSON.stringify({ message })}\n`
  }
}
