import { GREETING_BASE_URL, parseBaseUrl } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { parseObject } from '../candles/json.js'
import { plural, trimPeriod } from '../candles/text.js'
import { rateLimited } from '../sources/errors.js'
import { cleanText, FetchError } from '../sources/fetch-error.js'
import { parseRetryAfter } from '../sources/retry.js'
import type { HttpTransport, OpenResponse, WholeResponse } from '../sources/transport.js'
import { cleanValue, parseErrorBody } from './error-body.js'
import type { Token, UserUpdate, UserUpdateResult } from './schemas.js'

/** Paths of the API, relative to a base address: the token stream, and the OpenAPI description of each API. */
export const TOKENS_PATH = 'api/streams/tokens'
export const API_SPECS = {
  greeting: 'api/static/openapi.json',
  klines: 'api/openapi.json',
  export: 'export/openapi.json',
} as const
export type ApiName = keyof typeof API_SPECS

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

/**
 * Updates a user. Never retried: an update is not a read. Throws `rejected` when the server refuses, `unreachable` when no greeting
 * service answers, `rate_limited` when it asks to wait; or the signal's reason.
 */
export async function updateUser(
  id: string,
  fields: UserUpdateFields,
  { notify, ...options }: GreetingOptions & { readonly notify?: string | undefined } = {},
): Promise<UserUpdateResult> {
  const query = notify === undefined ? '' : `?${new URLSearchParams({ notify })}`
  const path = `api/users/${encodeURIComponent(id)}${query}`
  const send = async (transport: HttpTransport, signal: AbortSignal) => {
    const headers = { 'content-type': 'application/json' }
    return (await transport.open({ method: 'POST', path, headers, body: JSON.stringify(fields), signal })).readWhole()
  }
  return request('the update', send, options, answer => {
    const { success, id, notify } = answer
    if (typeof success === 'boolean' && typeof id === 'string' && typeof notify === 'string')
      return answer as UserUpdateResult
    throw new FetchError('invalid', 'it lacks success, id or notify')
  })
}

/** Downloads the OpenAPI description of an API: the greeting API itself, the klines service, or the exports of a `klines serve`. */
export function getSpec(api: ApiName = 'greeting', options: GreetingOptions = {}): Promise<OpenApiDocument> {
  const send = (transport: HttpTransport, signal: AbortSignal) => transport.get(API_SPECS[api], { signal })
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
  const { name, transport, signal } = await open(options)
  const what = 'the token stream'
  let response: OpenResponse | undefined
  let tokens = 0
  try {
    // Not compressed: a compressing proxy would delay the tokens.
    const headers = { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' }
    response = await transport.open({ method: 'GET', path: TOKENS_PATH, headers, signal })
    if (!isSuccess(response)) throw refusal(name, what, await response.readWhole())
    for await (const line of readLines(response.chunks())) {
      if (String(line).trim() === '') continue
      yield parseToken(line, tokens)
      // The next lines may be buffered already.
      signal.throwIfAborted()
      tokens++
    }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    if (tokens > 0 || (response && error.kind !== 'invalid')) throw cutStream(tokens, error.message, error)
    throw unreachable(name, error, what, response?.headers)
  } finally {
    await transport.close()
  }
}

/** Opens the service at an address. Throws `bad_base_url`. */
async function open({
  baseUrl = GREETING_BASE_URL,
  signal = new AbortController().signal,
  limits,
}: GreetingOptions): Promise<{ name: string; transport: HttpTransport; signal: AbortSignal }> {
  const name = parseBaseUrl(baseUrl)
  // undici takes 25 ms to load.
  const { HttpTransport } = await import('../sources/transport.js')
  return { name, signal, transport: new HttpTransport(name, { connections: 1, idleMs: limits?.idleMs }) }
}

/** Sends a request and parses its whole response, an object. `what`: what was requested, as error messages name it. */
async function request<T>(
  what: string,
  send: (transport: HttpTransport, signal: AbortSignal) => Promise<WholeResponse>,
  options: GreetingOptions,
  parse: (value: Readonly<Record<string, unknown>>) => T,
): Promise<T> {
  const { name, transport, signal } = await open(options)
  const answerMs = options.limits?.answerMs ?? ANSWER_MS
  const deadline = AbortSignal.timeout(answerMs)
  let response: WholeResponse | undefined
  try {
    response = await send(transport, AbortSignal.any([signal, deadline]))
    if (!isSuccess(response)) throw refusal(name, what, response)
    return parse(parseAnswer(response.body))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof KlinesError) throw error
    if (error instanceof FetchError) throw unreachable(name, error, what, response?.headers)
    if (!deadline.aborted) throw error
    throw unreachable(name, new FetchError('transient', `no whole answer within ${answerMs / 1000} s`), what)
  } finally {
    await transport.close()
  }
}

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300
}

/** A stream without a line end must not take all memory. */
const MAX_LINE_BYTES = 1024 * 1024

/** Yields the lines of a body as soon as they are complete; the last one needs no line end. Throws an `invalid` error above 1 MiB. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Split before decoding: in UTF-8 a line feed byte is never part of another character.
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    if (rest.length > MAX_LINE_BYTES && rest.indexOf('\n') === -1)
      throw new FetchError('invalid', `a line is longer than ${MAX_LINE_BYTES} bytes`)
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield rest.subarray(0, end)
      rest = rest.subarray(end + 1)
    }
  }
  yield rest
}

function parseAnswer(bytes: Buffer): Readonly<Record<string, unknown>> {
  const value = parseObject(bytes.toString('utf8'))
  if (value) return value
  throw new FetchError('invalid', 'it is not JSON, or no JSON object')
}

/** A line of the token stream. Throws `incomplete` when the server says why it ends the stream. */
function parseToken(line: Buffer, tokens: number): Token {
  const value = parseAnswer(line)
  const { isError, message, reason = message ?? 'no reason given' } = value
  if (isError) throw cutStream(tokens, `the server says ${cleanValue(reason)}`)
  if (typeof message === 'string') return value as Token
  throw new FetchError('invalid', 'it is no token, which has a message that is text')
}

/** The error for a service that does not answer, or whose answer with `headers` is not that of a greeting service. */
function unreachable(baseUrl: string, cause: FetchError, what: string, headers?: WholeResponse['headers']) {
  const type = headers?.['content-type']
  const shown = type ? ` (${cleanText(type, 60)})` : ''
  const fault = headers
    ? `${baseUrl} is not the greeting service: its response to ${what} is something else${shown}`
    : `The greeting service at ${baseUrl} cannot be reached`
  return new KlinesError('unreachable', `${fault}: ${cause.message}.`, {
    cause,
    suggestions: cause.advice ? [cause.advice] : ADVICE,
    data: { baseUrl },
  })
}

/** The error for a response that is no success, with the server's own message. */
function refusal(baseUrl: string, what: string, { status, headers, body }: WholeResponse): KlinesError {
  const waitMs = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], Date.now()) : undefined
  if (waitMs !== undefined)
    return rateLimited(baseUrl, status, Date.now() + waitMs, ['Run the same command again after that.'])
  const { message = '', causes = [] } = parseErrorBody(body) ?? {}
  const data = { status, ...(causes.length > 0 && { cause: causes }) }
  const isRejected = status >= 400 && status < 500 && status !== 408 && status !== 429
  const fault = isRejected ? `The server refused ${what} (${status})` : `${baseUrl} answered ${status} to ${what}`
  const advice = isRejected && message ? [] : ADVICE
  const suggestions = [...causes.filter(cause => !message.includes(cause)), ...advice]
  const text = `${fault}${message && `: ${trimPeriod(message)}`}.`
  return new KlinesError(isRejected ? 'rejected' : 'unreachable', text, { suggestions, data })
}

function cutStream(tokens: number, reason: string, cause?: unknown): KlinesError {
  const after = tokens === 0 ? 'before the first token' : `after ${plural(tokens, 'token')}`
  return new KlinesError('incomplete', `The token stream is incomplete: it ended ${after}: ${reason}.`, {
    cause,
    suggestions: ['Run the command again for a complete one.'],
    data: { tokens },
  })
}
