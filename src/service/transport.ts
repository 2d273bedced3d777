import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { ACCEPT_ENCODING, decodeBody, MAX_WIRE_BYTES } from './decode-body.js'
import { connectionFailure, Failure } from './failure.js'
import { USER_AGENT } from './user-agent.js'

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Idle limits inside an attempt, ms; the attempt's own deadline bounds them all. */
const CONNECT_TIMEOUT_MS = 10_000
const IDLE_TIMEOUT_MS = 15_000

/** An answer, whole and without its content coding. */
export interface Reply {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly body: Buffer
  /** Bytes of the body as they came over the wire. */
  readonly wireBytes: number
}

/** One GET over HTTP. */
export interface Transport {
  /** Throws a `Failure`, or the signal's reason when that aborts. */
  get(path: string, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<Reply>
  close(): Promise<void>
}

/**
 * Gets whole files of one origin over keep-alive HTTP/1.1 connections. No retry here, and no status is an error: the
 * caller knows what it asked for. Bodies are capped, decoded and never partial; at most three redirects, same origin.
 * HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured unless `direct`, which the in-process sample server is.
 */
export class HttpTransport implements Transport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string
  private readonly basePath: string

  constructor(baseUrl: string, { connections, direct = false }: { connections: number; direct?: boolean }) {
    const url = new URL(baseUrl)
    this.origin = url.origin
    this.basePath = url.pathname.replace(/\/+$/, '')
    const options: Agent.Options = {
      connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: IDLE_TIMEOUT_MS,
      bodyTimeout: IDLE_TIMEOUT_MS,
    }
    this.dispatcher = direct ? new Agent(options) : new EnvHttpProxyAgent(options)
  }

  async get(
    path: string,
    { headers = {}, signal }: { headers?: Record<string, string>; signal: AbortSignal },
  ): Promise<Reply> {
    let target = `${this.basePath}/${path}`
    for (let redirects = 0; ; redirects++) {
      const reply = await this.once(target, headers, signal)
      if (!REDIRECTS.has(reply.status)) return reply
      if (redirects === MAX_REDIRECTS)
        throw new Failure('final', `more than ${MAX_REDIRECTS} redirects`, {
          status: reply.status,
        })
      target = this.redirectTarget(target, reply)
    }
  }

  async close(): Promise<void> {
    // destroy, not close: an aborted run must not wait for bodies it no longer wants.
    await this.dispatcher.destroy()
  }

  private async once(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Reply> {
    try {
      const response = await this.dispatcher.request({
        origin: this.origin,
        path,
        method: 'GET',
        headers: {
          accept: 'application/json',
          'accept-encoding': ACCEPT_ENCODING,
          'user-agent': USER_AGENT,
          ...headers,
        },
        signal,
      })
      const raw = await collect(response)
      const flat = flatten(response.headers)
      return {
        status: response.statusCode,
        headers: flat,
        body: await decodeBody(raw, flat['content-encoding']),
        wireBytes: raw.length,
      }
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof Failure ? error : connectionFailure(error)
    }
  }

  private redirectTarget(from: string, { status, headers }: Reply): string {
    const { location } = headers
    if (!location)
      throw new Failure('final', `status ${status} without a Location`, {
        status,
      })
    const current = this.origin + from
    if (!URL.canParse(location, current))
      throw new Failure('final', 'redirected to something that is not a URL', {
        status,
      })
    const url = new URL(location, current)
    if (url.origin !== this.origin) {
      throw new Failure('final', `redirected to another origin, ${url.origin}, which is not followed`, { status })
    }
    return url.pathname + url.search
  }
}

/** A body's bytes as they came; a `final` failure beyond the cap, announced or not. */
async function collect(response: Dispatcher.ResponseData): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0)
  const chunks: Buffer[] = []
  let total = 0
  if (announced <= MAX_WIRE_BYTES) {
    for await (const chunk of response.body) {
      total += chunk.length
      if (total > MAX_WIRE_BYTES) break
      chunks.push(chunk)
    }
  }
  if (total > MAX_WIRE_BYTES || announced > MAX_WIRE_BYTES) {
    response.body.on('error', () => {}).destroy()
    throw new Failure('final', `the body is larger than ${MAX_WIRE_BYTES} bytes`, { status: response.statusCode })
  }
  return Buffer.concat(chunks, total)
}

/** Headers with one value each; a repeated one is joined as a list. */
function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
}
