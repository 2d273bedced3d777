import { GREETING_BASE_URL, isExchange, parseBaseUrl, SAMPLE } from '../http/base-url.js'
import { FetchError } from '../http/fetch-error.js'
import type { HttpResponse, WholeResponse } from '../http/transport/response.js'
import type { HttpTransport } from '../http/transport/transport.js'
import { KlinesError } from '../klines/errors.js'
import {
  incompleteStreamError,
  type RequestName,
  toKlinesError,
  unexpectedResponseError,
  unreachableError,
} from './errors.js'
import {
  decodeUtf8,
  type OpenApiDocument,
  parseJson,
  parseOpenApi,
  parseTokenLine,
  parseUserUpdateResult,
  readLines,
} from './parse.js'
import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH, TOKENS_PATH, userPath } from './paths.js'
import type { Token, UserUpdate, UserUpdateResult } from './schema.js'

/** The time for a whole response, ms; a stream may take longer. */
const ANSWER_MS = 30_000

const STREAM: RequestName = 'the token stream'

/** The fields of a user update, all optional: the server checks them. */
export type UserUpdateFields = Partial<Omit<UserUpdate, 'profile'>> & { profile?: Partial<UserUpdate['profile']> }

/** Settings of a `GreetingClient`. */
export interface GreetingClientOptions {
  readonly now?: () => number
  readonly answerMs?: number
}

/**
 * The operations of the greeting API, as in its OpenAPI description, without retries. They throw a `KlinesError`: `rejected`
 * when the server refuses, `unreachable` when no greeting service answers, `rate_limited` when the server asks to wait; or the
 * signal's reason when it aborts.
 */
export class GreetingClient {
  private readonly now: () => number
  private readonly answerMs: number

  constructor(
    private readonly transport: HttpTransport,
    readonly baseUrl: string,
    { now = Date.now, answerMs = ANSWER_MS }: GreetingClientOptions = {},
  ) {
    this.now = now
    this.answerMs = answerMs
  }

  /** Updates a user. Throws `bad_option` for an id that cannot be part of a path. Never retried: an update is not a read. */
  async updateUser(
    id: string,
    fields: UserUpdateFields,
    notify?: string,
    signal?: AbortSignal,
  ): Promise<UserUpdateResult> {
    const path = userPath(id, notify)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(fields)
    const post = async (limit: AbortSignal) =>
      (await this.transport.open({ method: 'POST', path, headers, body, signal: limit })).readWhole()
    return this.request('the update', post, parseUserUpdateResult, signal)
  }

  /**
   * Yields each token as soon as its line is complete; a caller that stops early closes the connection. Throws `incomplete`,
   * after all tokens before, when the stream is cut, silent for 15 s, invalid, or ended by an error of the server.
   */
  async *streamTokens(signal: AbortSignal = new AbortController().signal): AsyncGenerator<Token, void, undefined> {
    const response = await this.openStream(signal)
    let tokens = 0
    try {
      for await (const text of readLines(response.chunks())) {
        const line = parseTokenLine(text)
        if ('reason' in line) throw incompleteStreamError(tokens, `the server says ${line.reason}`)
        yield line.token
        // The next lines may be buffered already.
        signal.throwIfAborted()
        tokens++
      }
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      if (error.kind !== 'invalid') throw incompleteStreamError(tokens, error.message, error)
      if (tokens > 0) throw incompleteStreamError(tokens, `of what came next, ${error.message}`, error)
      throw unexpectedResponseError(this.baseUrl, STREAM, error, response.headers['content-type'])
    }
  }

  /** Downloads the OpenAPI description of the greeting API. */
  getSpec(signal?: AbortSignal): Promise<OpenApiDocument> {
    return this.getDocument(GREETING_SPEC_PATH, signal)
  }

  /** Downloads the OpenAPI description of the klines service. */
  getKlinesSpec(signal?: AbortSignal): Promise<OpenApiDocument> {
    return this.getDocument(KLINES_SPEC_PATH, signal)
  }

  /** Downloads the OpenAPI description of the exports of a `klines serve`. */
  getExportSpec(signal?: AbortSignal): Promise<OpenApiDocument> {
    return this.getDocument(EXPORT_SPEC_PATH, signal)
  }

  /** Aborts running requests. */
  close(): Promise<void> {
    return this.transport.close()
  }

  private getDocument(path: string, signal?: AbortSignal): Promise<OpenApiDocument> {
    const get = (limit: AbortSignal) => this.transport.get(path, { signal: limit })
    return this.request('the OpenAPI description', get, parseOpenApi, signal)
  }

  private async openStream(signal: AbortSignal): Promise<HttpResponse> {
    // Not compressed: a compressing proxy would delay the tokens.
    const headers = { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' }
    try {
      const response = await this.transport.open({ method: 'GET', path: TOKENS_PATH, headers, signal })
      if (isSuccess(response)) return response
      throw toKlinesError(this.baseUrl, STREAM, await response.readWhole(), this.now())
    } catch (error) {
      throw error instanceof FetchError ? unreachableError(this.baseUrl, error) : error
    }
  }

  /** Sends a request and parses its whole response. */
  private async request<T>(
    name: RequestName,
    send: (limit: AbortSignal) => Promise<WholeResponse>,
    parse: (value: unknown) => T,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(this.answerMs)
    let response: WholeResponse | undefined
    try {
      response = await send(AbortSignal.any([signal, deadline]))
      if (!isSuccess(response)) throw toKlinesError(this.baseUrl, name, response, this.now())
      return parse(parseJson(decodeUtf8(response.body)))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof FetchError) {
        if (!response) throw unreachableError(this.baseUrl, error)
        throw unexpectedResponseError(this.baseUrl, name, error, response.headers['content-type'])
      }
      if (error instanceof KlinesError || !deadline.aborted) throw error
      const reason = `no whole answer within ${this.answerMs / 1000} s`
      throw unreachableError(this.baseUrl, new FetchError('transient', reason))
    }
  }
}

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300
}

/** The most requests at once; a running stream is one of them. */
const CONNECTIONS = 16

/** Which greeting service to open. */
export interface GreetingOptions {
  /** Its base address, the part before `/api`. Default: the address of `klines serve`. */
  readonly baseUrl?: string | undefined
  /** The longest silence while a response is expected, ms. Default 15 s. */
  readonly idleMs?: number | undefined
}

/** Opens a client of the greeting API; the caller closes it. Throws `bad_base_url`. */
export async function openGreetingClient(options: GreetingOptions = {}): Promise<GreetingClient> {
  const { baseUrl = GREETING_BASE_URL, idleMs } = options
  const name = parseAddress(baseUrl)
  // undici takes 25 ms to load.
  const { HttpTransport } = await import('../http/transport/transport.js')
  const transport = new HttpTransport(name, { connections: CONNECTIONS, idleMs })
  return new GreetingClient(transport, name)
}

function parseAddress(text: string): string {
  const name = text.trim()
  if (!isExchange(name) && name !== SAMPLE) return parseBaseUrl(text)
  const message = `"${name}" is the ${name === SAMPLE ? 'sample' : 'exchange'}, which has candles alone. Expected the address of a server of the greeting API.`
  const suggestions = [`klines serve starts one, at ${GREETING_BASE_URL} by default.`]
  throw new KlinesError('bad_base_url', message, { suggestions })
}
