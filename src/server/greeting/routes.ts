import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import Negotiator from 'negotiator'
import { TOKENS_PATH } from '../../greeting-client/paths.js'
import {
  type Token,
  TokenSchema,
  USER_UPDATE,
  type UserUpdateResult,
  UserUpdateResultSchema,
} from '../../greeting-client/schema.js'
import { KlinesError } from '../../klines/errors.js'
import type { Endpoint } from '../docs/openapi.js'
import { CORS_HEADERS } from '../http/error.js'
import { fieldCheck, parseQuery, readJson } from '../http/fields.js'
import type { Limits } from '../http/limits.js'
import { checkAcceptsJson } from '../http/send-body.js'

const TOKEN_TYPES = ['application/jsonl', 'text/plain']

/** Settings of the greeting API. */
export interface GreetingSettings {
  /** What the token stream says, word by word. */
  readonly streamText?: string | undefined
}

/** The user update and the token stream. Throws `bad_option` for a `streamText` without words. */
export function greetingEndpoints(
  { streamText = DEFAULT_STREAM_TEXT }: GreetingSettings,
  { bodyBytes }: Limits,
): Endpoint[] {
  const words = splitWords(streamText)
  const check = fieldCheck(USER_UPDATE)
  return [
    {
      method: 'POST',
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
      handler: async (request, response, params) => {
        const body = await readJson(request, response, bodyBytes)
        const query = parseQuery(request.url ?? '')
        await check({ params, query, body })
        sendUpdate({ success: true, id: params.id, notify: query.notify as string }, request, response)
      },
    },
    {
      method: 'GET',
      path: `/${TOKENS_PATH}`,
      operationId: 'streamTokens',
      summary: 'A text, word by word, as JSON Lines',
      description:
        'One object a line, as it comes. The type is application/jsonl where Accept names it, else text/plain. ' +
        'A failure on the way is a last line, {"isError":true,"reason":...}.',
      tag: 'StreamRPC',
      response: {
        description: 'One object a line',
        content: Object.fromEntries(TOKEN_TYPES.map(type => [type, TokenSchema])),
      },
      handler: (request, response) => streamTokens(words, request, response),
    },
  ]
}

function sendUpdate(result: UserUpdateResult, { headers }: IncomingMessage, response: ServerResponse): void {
  checkAcceptsJson(headers.accept)
  const body = JSON.stringify(result)
  const fields = {
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  }
  response.writeHead(200, fields).end(body)
}

/** Sends each word at once; stops when the client disconnects. */
function streamTokens(words: readonly string[], request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': `${tokenType(request.headers.accept)}; charset=utf-8`,
    'cache-control': 'no-store',
    ...CORS_HEADERS,
    'x-content-type-options': 'nosniff',
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  const disconnected = new AbortController()
  // A response that is queued behind another one gets no 'close' event; its request does.
  for (const side of [request, response]) side.on('close', () => disconnected.abort())
  const { signal } = disconnected
  pipeline(Readable.from(jsonLines(wordTokens(words, signal), signal)), response, () => {})
}

/** JSON Lines when Accept names it, else plain text, as the public instance does. */
function tokenType(accept: string | undefined): string {
  const named = accept === undefined ? [] : new Negotiator({ headers: { accept } }).mediaTypes()
  return named.includes('application/jsonl') ? 'application/jsonl' : 'text/plain'
}

/** What the token stream says by default. */
const DEFAULT_STREAM_TEXT = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'

/** The pace of the public instance. */
export const WORD_MS = 200

/**
 * Splits a text into words, each with the white space before it, the last also with that behind it: joined, they are the text
 * again. Throws `bad_option` for a text without words: clients could not tell its stream from a broken one.
 */
function splitWords(text: string): string[] {
  const words = text.match(/\s*\S+(\s+$)?/g)
  if (words) return words
  const message = `\`streamText\` is ${JSON.stringify(text)}. Expected a text with at least one word.`
  throw new KlinesError('bad_option', message)
}

/** Words as tokens, one every `wordMs`. Throws when the signal aborts. */
async function* wordTokens(words: readonly string[], signal: AbortSignal, wordMs = WORD_MS): AsyncGenerator<Token> {
  for (const [index, message] of words.entries()) {
    if (index > 0) await sleep(wordMs, undefined, { signal })
    yield { message }
  }
}

/** Tokens as JSON Lines; like the public instance, reports an error as the last line. */
async function* jsonLines(tokens: AsyncIterable<Token>, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const token of tokens) yield `${JSON.stringify(token)}\n`
  } catch {
    if (!signal.aborted) yield `${JSON.stringify({ isError: true, reason: 'Internal error.' })}\n`
  }
}
