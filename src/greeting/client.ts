import { KlinesError } from '../candles/errors.js'
import { isObject } from '../candles/json.js'
import { trimPeriod } from '../candles/text.js'
import { GREETING_BASE_URL, isExchange, parseBaseUrl, SAMPLE } from '../sources/base-url.js'
import { cleanText, cleanValue, parseErrorBody } from '../sources/error-body.js'
import { rateLimited } from '../sources/errors.js'
import { FetchError } from '../sources/fetch-error.js'
import { parseRetryAfter } from '../sources/retry.js'
import type { HttpTransport, WholeResponse } from '../sources/transport.js'
import { decodeUtf8, readLines } from './lines.js'
import { API_SPECS, TOKENS_PATH, userPath } from './paths.js'
import type { Token, UserUpdate, UserUpdateResult } from './schemas.js'

/** The time for a whole response, ms; a stream may take longer. */
const ANSWER_MS = 30_000
const ADVICE = ['Start one with klines serve, or name its address with --base-url.']

/** The fields of a user update, all optional: the server checks them. */
export type UserUpdateFields = Partial<Omit<UserUpdate, 'profile'>> & { profile?: Partial<UserUpdate['profile']> }

/** An OpenAPI description: an object whose `openapi` names the version of the format. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly [key: string]: unknown
}

/** Which greeting service is called, and until when. */
export interface GreetingOptions {
  /** Its base address, the part before `/api`. Default: the address of `klines serve`. */
  readonly baseUrl?: string | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * The longest silence while a response is expected, and the longest time for a whole one, ms.
   * @internal
   */
  readonly limits?: { readonly idleMs?: number; readonly answerMs?: number } | undefined
}

/** What was requested, as error messages name it. */
type RequestName = 'the update' | 'the token stream' | 'the OpenAPI description'

/** An open service. Its name is the base address. */
interface Service {
  readonly name: string
  readonly transport: HttpTransport
  readonly signal: AbortSignal
}

/**
 * Updates a user. Never retried: an update is not a read. Throws `bad_option` for an id that cannot be part of a path, `rejected` when
 * the server refuses, `unreachable` when no greeting service answers, `rate_limited` when it asks to wait; or the signal's reason.
 */
export async function updateUser(
  id: string,
  fields: UserUpdateFields,
  { notify, ...options }: GreetingOptions & { readonly notify?: string | undefined } = {},
): Promise<UserUpdateResult> {
  const path = userPath(id, notify)
  const send = async ({ transport }: Service, signal: AbortSignal) => {
    const headers = { 'content-type': 'application/json' }
    return (await transport.open({ method: 'POST', path, headers, body: JSON.stringify(fields), signal })).readWhole()
  }
  return request('the update', send, options, ({ success, id, notify, ...rest }) => {
    if (typeof success === 'boolean' && typeof id === 'string' && typeof notify === 'string')
      return { success, id, notify, ...rest }
    throw new FetchError('invalid', 'it lacks success, id or notify')
  })
}

/** Downloads the OpenAPI description of an API: the greeting API itself, the klines service, or the exports of a `klines serve`. */
export function getSpec(
  api: keyof typeof API_SPECS = 'greeting',
  options: GreetingOptions = {},
): Promise<OpenApiDocument> {
  const send = ({ transport }: Service, signal: AbortSignal) => transport.get(API_SPECS[api], { signal })
  return request('the OpenAPI description', send, options, document => {
    if (typeof document.openapi === 'string') return document as OpenApiDocument
    throw new FetchError('invalid', 'it is no OpenAPI description')
  })
}

/**
 * Yields each token as soon as its line is complete; a caller that stops early closes the connection. Throws `incomplete`, after all
 * tokens before, when the stream is cut, silent for 15 s, invalid, or ended by an error of the server; else what `updateUser` throws.
 */
export async function* streamTokens(options: GreetingOptions = {}): AsyncGenerator<Token, void, undefined> {
  const service = await open(options)
  const { transport, signal, name } = service
  let tokens = 0
  try {
    // Not compressed: a compressing proxy would delay the tokens.
    const headers = { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' }
    const response = await transport.open({ method: 'GET', path: TOKENS_PATH, headers, signal }).catch(error => {
      throw error instanceof FetchError ? unreachable(name, error) : error
    })
    if (!isSuccess(response)) throw refusal(name, 'the token stream', await response.readWhole())
    try {
      for await (const text of readLines(response.chunks())) {
        const line = parseToken(text)
        if ('reason' in line) throw cutStream(tokens, `the server says ${line.reason}`)
        yield line
        // The next lines may be buffered already.
        signal.throwIfAborted()
        tokens++
      }
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      if (error.kind !== 'invalid') throw cutStream(tokens, error.message, error)
      if (tokens > 0) throw cutStream(tokens, `of what came next, ${error.message}`, error)
      throw unexpected(name, 'the token stream', error, response.headers['content-type'])
    }
  } finally {
    await transport.close()
  }
}

/** Throws `bad_base_url`. */
async function open({
  baseUrl = GREETING_BASE_URL,
  signal = new AbortController().signal,
  limits,
}: GreetingOptions): Promise<Service> {
  const given = baseUrl.trim()
  if (isExchange(given) || given === SAMPLE) {
    const message = `"${given}" is the ${given === SAMPLE ? 'sample' : 'exchange'}, which has candles alone. Expected the address of a server of the greeting API.`
    const suggestions = [`klines serve starts one, at ${GREETING_BASE_URL} by default.`]
    throw new KlinesError('bad_base_url', message, { suggestions })
  }
  const name = parseBaseUrl(baseUrl)
  // undici takes 25 ms to load.
  const { HttpTransport } = await import('../sources/transport.js')
  return { name, signal, transport: new HttpTransport(name, { connections: 1, idleMs: limits?.idleMs }) }
}

/** Sends a request and parses its whole response, an object. */
async function request<T>(
  what: RequestName,
  send: (service: Service, signal: AbortSignal) => Promise<WholeResponse>,
  options: GreetingOptions,
  parse: (value: Readonly<Record<string, unknown>>) => T,
): Promise<T> {
  const service = await open(options)
  const { name, signal, transport } = service
  const answerMs = options.limits?.answerMs ?? ANSWER_MS
  const deadline = AbortSignal.timeout(answerMs)
  let response: WholeResponse | undefined
  try {
    response = await send(service, AbortSignal.any([signal, deadline]))
    if (!isSuccess(response)) throw refusal(name, what, response)
    return parse(parseObject(decodeUtf8(response.body)))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof FetchError && response) throw unexpected(name, what, error, response.headers['content-type'])
    if (error instanceof FetchError) throw unreachable(name, error)
    if (error instanceof KlinesError || !deadline.aborted) throw error
    throw unreachable(name, new FetchError('transient', `no whole answer within ${answerMs / 1000} s`))
  } finally {
    await transport.close()
  }
}

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300
}

/** Throws an `invalid` error for text that is no JSON object. */
function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not JSON', { cause, notJson: true })
  }
  if (isObject(value)) return value
  throw new FetchError('invalid', 'it is no JSON object')
}

/** A line of the token stream: a token, or the reason why the server ended the stream. Throws an `invalid` error for any other. */
function parseToken(line: string): Token | { readonly reason: string } {
  const value = parseObject(line)
  if (value.isError === true) return { reason: cleanValue(value.reason ?? value.message ?? 'no reason given') }
  if (typeof value.message === 'string') return value as Token
  throw new FetchError('invalid', 'it is no token, which has a message that is text')
}

function unreachable(baseUrl: string, cause: FetchError): KlinesError {
  const message = `The greeting service at ${baseUrl} cannot be reached: ${cause.message}.`
  return new KlinesError('unreachable', message, { cause, suggestions: ADVICE, data: { baseUrl } })
}

/** The error for a response that a greeting service would not send. */
function unexpected(baseUrl: string, what: RequestName, cause: FetchError, type: string | undefined): KlinesError {
  const kind = type ? ` (${cleanText(type, 60)})` : ''
  const message = `${baseUrl} is not the greeting service: its response to ${what} is something else${kind}: ${cause.message}.`
  return new KlinesError('unreachable', message, { cause, suggestions: ADVICE, data: { baseUrl } })
}

/** The error for a response that is no success, with the server's own message. */
function refusal(baseUrl: string, what: RequestName, { status, headers, body }: WholeResponse): KlinesError {
  const waitMs = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], Date.now()) : undefined
  if (waitMs !== undefined)
    return rateLimited(baseUrl, status, Date.now() + waitMs, ['Run the same command again after that.'])
  const { message = '', causes = [] } = parseErrorBody(body) ?? {}
  const reason = message ? `: ${trimPeriod(message)}` : ''
  const data = { status, ...(causes.length > 0 && { cause: causes }) }
  const suggestions = causes.filter(cause => !message.includes(cause))
  if (status === 429) {
    suggestions.push('Try again later, and less often.')
    return new KlinesError('rate_limited', `${baseUrl} received too many requests (429)${reason}.`, {
      suggestions,
      data,
    })
  }
  if (status >= 400 && status < 500 && status !== 408) {
    if (!message) suggestions.push('That is not how a greeting service refuses: is --base-url the right address?')
    return new KlinesError('rejected', `The server refused ${what} (${status})${reason}.`, { suggestions, data })
  }
  const details = { suggestions: [...suggestions, ...ADVICE], data: { baseUrl, ...data } }
  return new KlinesError('unreachable', `${baseUrl} answered ${status} to ${what}${reason}.`, details)
}

/** The error for a stream that broke off after `tokens` tokens. */
function cutStream(tokens: number, reason: string, cause?: unknown): KlinesError {
  const after = tokens === 0 ? 'before the first token' : `after ${tokens} token${tokens === 1 ? '' : 's'}`
  return new KlinesError('incomplete', `The token stream is incomplete: it ended ${after}: ${reason}.`, {
    cause,
    suggestions: ['Run the command again for a complete one.'],
    data: { tokens },
  })
}
