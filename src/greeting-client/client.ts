import { FetchError } from '../http/fetch-error.js'
import type { HttpResponse, WholeResponse } from '../http/response.js'
import type { HttpTransport } from '../http/transport.js'
import { KlinesError } from '../klines/errors.js'
import { type Asked, brokenStream, cannotReach, notTheService, refused } from './errors.js'
import { decodeUtf8, parseJson, readLines } from './json-lines.js'
import { type OpenApiDocument, parseOpenApi, parseTokenLine, parseUserUpdateResult } from './parse.js'
import { GREETING_SPEC_PATH, KLINES_SPEC_PATH, TOKENS_PATH, userPath } from './paths.js'
import type { Token, UserUpdate, UserUpdateResult } from './schema.js'

/** How long a whole answer may take, ms; a stream may take as long as something comes. */
const ANSWER_MS = 30_000

const STREAM: Asked = 'the token stream'

/** The fields of a user update; which of them it takes is for the server to say. */
export type UserUpdateFields = Partial<Omit<UserUpdate, 'profile'>> & { profile?: Partial<UserUpdate['profile']> }

/** What a `GreetingService` is made of beside its transport; all have real defaults. */
export interface GreetingClientOptions {
  readonly now?: () => number
  readonly answerMs?: number
}

/**
 * The operations of the greeting API (service.md, endpoints 8 to 10), each asked once. They throw a `KlinesError`:
 * `rejected` when the server refuses, `unreachable` when there is no such server, `rate_limited` when it wants to be left
 * alone; or the signal's reason when that aborts.
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

  /** updateUser. Throws `bad_option` for an id that no path can carry. Never asked twice: an update is no read. */
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
    return this.answer('the update', post, parseUserUpdateResult, signal)
  }

  /**
   * streamTokens: each token as soon as its line is whole. Stopping early hangs up. Throws `incomplete` when the stream
   * is cut, falls silent for 15 s, ends with an error of the server or goes on as something else, after all tokens before.
   */
  async *streamTokens(signal: AbortSignal = new AbortController().signal): AsyncGenerator<Token, void, undefined> {
    const reply = await this.openStream(signal)
    let tokens = 0
    try {
      for await (const text of readLines(reply.chunks())) {
        const line = parseTokenLine(text)
        if ('reason' in line) throw brokenStream(tokens, `the server says ${line.reason}`)
        yield line.token
        // More lines may lie here than the one that was asked for.
        signal.throwIfAborted()
        tokens++
      }
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      if (error.kind !== 'invalid') throw brokenStream(tokens, error.message, error)
      if (tokens > 0) throw brokenStream(tokens, `of what came next, ${error.message}`, error)
      throw notTheService(this.baseUrl, STREAM, error, reply.headers['content-type'])
    }
  }

  /** getSpec: the OpenAPI description of the greeting API. */
  getSpec(signal?: AbortSignal): Promise<OpenApiDocument> {
    return this.getDocument(GREETING_SPEC_PATH, signal)
  }

  /** The OpenAPI description of the klines service. */
  getKlinesSpec(signal?: AbortSignal): Promise<OpenApiDocument> {
    return this.getDocument(KLINES_SPEC_PATH, signal)
  }

  /** Ends what is under way. */
  close(): Promise<void> {
    return this.transport.close()
  }

  private getDocument(path: string, signal?: AbortSignal): Promise<OpenApiDocument> {
    const get = (limit: AbortSignal) => this.transport.get(path, { signal: limit })
    return this.answer('the OpenAPI description', get, parseOpenApi, signal)
  }

  private async openStream(signal: AbortSignal): Promise<HttpResponse> {
    // Not compressed: a compressor on the way would hold back what is meant to be read at once.
    const headers = { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' }
    try {
      const reply = await this.transport.open({ method: 'GET', path: TOKENS_PATH, headers, signal })
      if (isSuccess(reply)) return reply
      throw refused(this.baseUrl, STREAM, await reply.readWhole(), this.now())
    } catch (error) {
      throw error instanceof FetchError ? cannotReach(this.baseUrl, error) : error
    }
  }

  /** A whole answer, believed only when `parse` takes it. */
  private async answer<T>(
    asked: Asked,
    ask: (limit: AbortSignal) => Promise<WholeResponse>,
    parse: (value: unknown) => T,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(this.answerMs)
    let reply: WholeResponse | undefined
    try {
      reply = await ask(AbortSignal.any([signal, deadline]))
      if (!isSuccess(reply)) throw refused(this.baseUrl, asked, reply, this.now())
      return parse(parseJson(decodeUtf8(reply.body)))
    } catch (error) {
      signal.throwIfAborted()
      if (reply && error instanceof FetchError)
        throw notTheService(this.baseUrl, asked, error, reply.headers['content-type'])
      if (error instanceof KlinesError) throw error
      if (error instanceof FetchError) throw cannotReach(this.baseUrl, error)
      if (!deadline.aborted) throw error
      throw cannotReach(this.baseUrl, new FetchError('transient', `no whole answer within ${this.answerMs / 1000} s`))
    }
  }
}

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300
}
