import { VERSION } from '../../version.js'
import { FetchError, toFetchError } from '../fetch-error.js'
import { ACCEPT_ENCODING, HttpResponse, type WholeResponse } from './response.js'
import { type Agent, type Dispatcher, EnvHttpProxyAgent } from './undici.js'

export type { WholeResponse }

/** RFC 9110, section 10.1.5. */
const USER_AGENT = `klines/${VERSION} node/${process.versions.node}`

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Limits inside an attempt, ms; its deadline bounds them all. */
const CONNECT_TIMEOUT_MS = 10_000
const IDLE_TIMEOUT_MS = 15_000

/** Settings of the connections to an origin. */
export interface TransportOptions {
  readonly connections: number
  /**
   * The longest wait for a connection, and the longest silence while a response is expected, ms. Default 10 s for a connection,
   * 15 s for a response.
   */
  readonly idleMs?: number | undefined
}

/** A request; `path` is relative to the base address. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
}

/**
 * Talks to one origin over keep-alive HTTP/1.1 connections. It does not retry, and no status is an error. Whole bodies are
 * capped, decoded and never partial; a GET follows at most three redirects, all to the same origin. HTTP_PROXY, HTTPS_PROXY
 * and NO_PROXY apply.
 */
export class HttpTransport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string
  private readonly basePath: string

  constructor(baseUrl: string, { connections, idleMs }: TransportOptions) {
    const url = new URL(baseUrl)
    this.origin = url.origin
    this.basePath = url.pathname.replace(/\/+$/, '')
    const options: Agent.Options = {
      connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: idleMs ?? CONNECT_TIMEOUT_MS },
      headersTimeout: idleMs ?? IDLE_TIMEOUT_MS,
      bodyTimeout: idleMs ?? IDLE_TIMEOUT_MS,
    }
    this.dispatcher = new EnvHttpProxyAgent(options)
  }

  /** Sends a GET request. Throws a `FetchError`, or the signal's reason when it aborts. */
  async get(path: string, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<WholeResponse> {
    let target = this.target(path)
    for (let redirects = 0; ; redirects++) {
      const response = await (await this.send({ ...options, method: 'GET', path: target })).readWhole()
      const { status } = response
      if (!REDIRECTS.has(status)) return response
      if (redirects === MAX_REDIRECTS) {
        throw new FetchError('permanent', `more than ${MAX_REDIRECTS} redirects`, { status })
      }
      target = this.redirectTarget(target, response)
    }
  }

  /**
   * Sends a request and resolves when the headers have arrived; follows no redirect. Throws a `FetchError`, or the signal's
   * reason when it aborts, which ends the body too.
   */
  open(request: HttpRequest): Promise<HttpResponse> {
    return this.send({ ...request, path: this.target(request.path) })
  }

  async close(): Promise<void> {
    // destroy, not close: an aborted run must not wait for the bodies of running requests.
    await this.dispatcher.destroy()
  }

  private async send({ headers = {}, signal, ...request }: HttpRequest): Promise<HttpResponse> {
    try {
      const response = await this.dispatcher.request({
        ...request,
        origin: this.origin,
        headers: {
          accept: 'application/json',
          'accept-encoding': ACCEPT_ENCODING,
          'user-agent': USER_AGENT,
          ...headers,
        },
        signal,
      })
      return new HttpResponse(response, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toFetchError(error)
    }
  }

  private target(path: string): string {
    return `${this.basePath}/${path}`
  }

  private redirectTarget(from: string, { status, headers }: WholeResponse): string {
    const { location } = headers
    const fail = (reason: string) => new FetchError('permanent', reason, { status })
    if (!location) throw fail(`status ${status} without a Location`)
    const current = this.origin + from
    if (!URL.canParse(location, current)) throw fail('redirected to something that is not a URL')
    const { origin, pathname, search } = new URL(location, current)
    if (origin !== this.origin) throw fail(`redirected to another origin, ${origin}, which is not followed`)
    return pathname + search
  }
}
