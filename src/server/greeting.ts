import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Validator } from 'typebox/compile'
import { TOKENS_PATH } from '../greeting/client.js'
import type { UserUpdateResult } from '../greeting/schemas.js'
import { leavingSignal, type Route } from './body.js'
import { CORS_HEADERS, HttpError } from './errors.js'

const DEFAULT_STREAM_TEXT = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'
/** The pace of the public instance. */
export const WORD_MS = 200

export function greetingRoutes(streamText = DEFAULT_STREAM_TEXT): Route[] {
  // Each with the white space before it, the last also with that behind it: joined, they are the text again.
  const words = streamText.match(/\s*\S+(\s+$)?/g) ?? []
  return [
    { method: 'POST', url: '/api/users/:id', handler: updateUser },
    { method: 'GET', url: `/${TOKENS_PATH}`, handler: (request, reply) => streamTokens(words, request, reply) },
  ]
}

let validator: Promise<Validator> | undefined

async function updateUser({ params, query, body }: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Most servers never get such a request, and loading and compiling take a while.
  validator ??= Promise.all([import('typebox/compile'), import('../greeting/schemas.js')]).then(
    ([{ Compile }, { UserUpdateRequest }]) => Compile(UserUpdateRequest),
  )
  const parts = { params: { ...(params as { id: string }) }, query: { ...(query as { notify: string }) }, body }
  checkFields(await validator, parts)
  const result: UserUpdateResult = { success: true, id: parts.params.id, notify: parts.query.notify }
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(result))
}

/** Throws `HttpError` 400 with every field of the parts of a request that the schema rejects. */
function checkFields(schema: Validator, parts: object): void {
  if (schema.Check(parts)) return
  const faults = schema.Errors(parts).flatMap(({ instancePath, keyword, params, message }) => {
    const path = instancePath.split('/').slice(1)
    const expected = keyword === 'enum' ? `must be one of ${params.allowedValues.join(', ')}` : message
    if (keyword !== 'required') return [{ field: path.join('.'), message: expected }]
    const { requiredProperties } = params as { requiredProperties: string[] }
    return requiredProperties.map(name => ({ field: [...path, name].join('.'), message: 'is missing' }))
  })
  const [{ field, message }] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  throw new HttpError(400, `${field} ${message}${more}.`, { cause: faults })
}

/** Sends each word at once; stops when the client disconnects. */
function streamTokens(words: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
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
  pipeline(Readable.from(wordTokens(words, leavingSignal(request, reply))), response, () => {})
}

/** Words as tokens in JSON Lines, one every `WORD_MS`. */
async function* wordTokens(words: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  for (const [index, message] of words.entries()) {
    if (index > 0) await sleep(WORD_MS, undefined, { signal })
    yield `${JSON.stringify({ message })}\n`
  }
}
