import { VERSION } from '../version.js'
import { ACCEPT_ENCODING } from './decode-body.js'
import { FetchError, toFetchError } from './fetch-error.js'
import { HttpResponse, type WholeResponse } from './response.js'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from './undici.js'

export type { WholeResponse }

/** How requests name this tool (RFC 9110, 10.1.5). */
const USER_AGENT = `klines/${VERSION} node/${process.versions.node}`

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Idle limits inside an attempt, ms; the attempt's own deadline bounds them all. */
const CONNECT_TIMEOUT_MS = 10_000
const IDLE_TIMEOUT_MS = 15_000

/** One GET over HTTP. */
export interface Transport {
  /** Throws a `FetchError`, or the signal's reason when that aborts. */
  get(path: string, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<WholeResponse>
  close(): Promise<void>
}

/** How an origin is reached. */
export interface TransportOptions {
  readonly connections: number
  /** Whether the settings for proxies are passed by. */
  readonly direct?: boolean
  /** How long nothing may come while an answer is waited for, ms. Default 15 s. */
  readonly idleMs?: number
}

/** One request, `path` below the base address. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
}

/**
 * Talks to one origin over keep-alive HTTP/1.1 connections. No retry here, and no status is an error: the caller knows
 * what it asked for. Whole bodies are capped, decoded and never partial; a GET follows at most three redirects, same
 * origin. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured unless `direct`, which the in-process sample server is.
 */
export class HttpTransport implements Transport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string
  private readonly basePath: string

  constructor(baseUrl: string, { connections, direct = false, idleMs = IDLE_TIMEOUT_MS }: TransportOptions) {
    const url = new URL(baseUrl)
    this.origin = url.origin
    this.basePath = url.pathname.replace(/\/+$/, '')
    const options: Agent.Options = {
      connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    }
    this.dispatcher = direct ? new Agent(options) : new EnvHttpProxyAgent(options)
  }

  async get(path: string, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<WholeResponse> {
    let target = this.target(path)
    for (let redirects = 0; ; redirects++) {
      const reply = await (await this.send({ ...options, method: 'GET', path: target })).readWhole()
      if (!REDIRECTS.has(reply.status)) return reply
      if (redirects === MAX_REDIRECTS)
        throw new FetchError('permanent', `more than ${MAX_REDIRECTS} redirects`, {
          status: reply.status,
        })
      target = this.redirectTarget(target, reply)
    }
  }

  /**
   * One request as it is, no redirect followed; resolves when the headers have come. Throws a `FetchError`, or the signal's
   * reason when that aborts, which ends the body too.
   */
  open(request: HttpRequest): Promise<HttpResponse> {
    return this.send({ ...request, path: this.target(request.path) })
  }

  async close(): Promise<void> {
    // destroy, not close: an aborted run must not wait for bodies it no longer wants.
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
    if (!location)
      throw new FetchError('permanent', `status ${status} without a Location`, {
        status,
      })
    const current = this.origin + from
    if (!URL.canParse(location, current))
      throw new FetchError('permanent', 'redirected to something that is not a URL', {
        status,
      })
    const url = new URL(location, current)
    if (url.origin !== this.origin) {
      throw new FetchError('permanent', `redirected to another origin, ${url.origin}, which is not followed`, {
        status,
      })
    }
    return url.pathname + url.search
  }
}
