import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { quoteText } from '../candles/text.js'
import { errnoCode } from '../fs/errno.js'
import { VERSION } from '../version.js'
import { FetchError, toFetchError } from './fetch-error.js'
import { findProxy, type HttpProxy } from './proxy.js'
import { Agent, type Dispatcher, ProxyAgent } from './undici.js'

const USER_AGENT = `klines/${VERSION} node/${process.versions.node}`
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** A limit inside an attempt, ms; its deadline bounds it. */
const IDLE_MS = 15_000

/** The largest body, bytes, before and after decoding; the largest window has 139,569. */
const MAX_WIRE_BYTES = 8 * 1024 * 1024
const MAX_DECODED_BYTES = 16 * 1024 * 1024

export interface WholeResponse {
  readonly status: number
  /** Repeated ones are joined by commas. */
  readonly headers: Record<string, string | undefined>
  readonly body: Buffer
  /** Size of the body before decoding, bytes. */
  readonly wireBytes: number
}

/** A response whose headers have arrived. */
export interface OpenResponse extends Pick<WholeResponse, 'status' | 'headers'> {
  /** The bytes as they arrive, not decoded. A fault is thrown after all bytes before it: undici itself drops unread bytes. */
  chunks(): AsyncGenerator<Buffer>
  readWhole(): Promise<WholeResponse>
}

/** `path` is relative to the base address. */
interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
}

/**
 * Talks to one origin over keep-alive HTTP/1.1 connections. It does not retry, and no status is an error. Whole bodies are capped and
 * decoded. `findProxy` says which proxy applies. Methods throw a `FetchError`, or the signal's reason when it aborts.
 */
export class HttpTransport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string
  private readonly basePath: string
  private readonly proxy: HttpProxy | undefined

  /** `idleMs`: the longest wait for a connection, and the longest silence of an answer. */
  constructor(
    baseUrl: string,
    { connections, idleMs = IDLE_MS }: { connections: number; idleMs?: number | undefined },
  ) {
    const { origin, pathname } = new URL(baseUrl)
    this.origin = origin
    this.basePath = pathname.replace(/\/+$/, '')
    this.proxy = findProxy(baseUrl)
    const options = {
      connections,
      allowH2: false,
      connect: { timeout: idleMs },
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    } satisfies Agent.Options
    this.dispatcher = this.proxy ? new ProxyAgent({ ...options, ...this.proxy }) : new Agent(options)
  }

  /** Sends a GET request, and follows at most three redirects to the same origin. */
  async get(path: string, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<WholeResponse> {
    let target = `${this.basePath}/${path}`
    for (let redirects = 0; ; redirects++) {
      const response = await (await this.send({ ...options, method: 'GET', path: target })).readWhole()
      const { status, headers } = response
      if (!REDIRECTS.has(status)) return response
      const fail = (reason: string, movedTo?: string) => new FetchError('permanent', reason, { status, movedTo })
      if (redirects === MAX_REDIRECTS) throw fail(`more than ${MAX_REDIRECTS} redirects`)
      const { location = 'http://' } = headers
      if (!URL.canParse(location, this.origin)) throw fail(`status ${status} without a Location`)
      const place = new URL(location, this.origin + target)
      if (place.origin !== this.origin) {
        const reason = `redirected to another origin, ${place.origin}, which is not followed`
        throw fail(reason, findNewBase(place, path, status))
      }
      target = place.pathname + place.search
    }
  }

  /** Sends a request and resolves when the headers have arrived; follows no redirect. */
  open(request: HttpRequest): Promise<OpenResponse> {
    return this.send({ ...request, path: `${this.basePath}/${request.path}` })
  }

  async close(): Promise<void> {
    // close would wait for running requests.
    await this.dispatcher.destroy()
  }

  private async send({ headers = {}, signal, ...request }: HttpRequest): Promise<OpenResponse> {
    try {
      const response = await this.dispatcher.request({
        ...request,
        origin: this.origin,
        headers: { accept: 'application/json', 'accept-encoding': 'gzip, br', 'user-agent': USER_AGENT, ...headers },
        signal,
      })
      return openResponse(response, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toFetchError(error, this.proxy)
    }
  }
}

/** The base address that has a file now, by a redirect of it, or of its whole site for good. That of a sign-in page is none. */
function findNewBase({ origin, pathname, search }: URL, path: string, status: number): string | undefined {
  if (/\b(log-?in|sign-?in|sso|oauth2?|auth|accounts?|idp|portal)\b/i.test(origin + pathname)) return undefined
  if ((pathname + search).endsWith(`/${path}`)) return origin + pathname.slice(0, -path.split('?')[0].length - 1)
  return pathname + search === '/' && (status === 301 || status === 308) ? origin : undefined
}

function openResponse(response: Dispatcher.ResponseData, signal: AbortSignal): OpenResponse {
  const status = response.statusCode
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(response.headers)) headers[name] = [value].flat().join(', ')
  const chunks = async function* () {
    const { body } = response
    const buffered = new PassThrough({ highWaterMark: 1024 * 1024 })
    let fault: unknown
    body.on('error', error => {
      fault = error
      buffered.end()
    })
    body.pipe(buffered)
    try {
      yield* buffered
    } finally {
      body.destroy()
    }
    signal.throwIfAborted()
    if (fault !== undefined) throw toFetchError(fault)
  }
  const readWhole = async () => {
    try {
      const received: Buffer[] = []
      let wireBytes = 0
      // Leaving the loop closes the connection.
      for await (const chunk of response.body) {
        wireBytes += chunk.length
        if (wireBytes > MAX_WIRE_BYTES)
          throw new FetchError('permanent', `the body is larger than ${MAX_WIRE_BYTES} bytes`, { status })
        received.push(chunk)
      }
      const body = await decodeBody(Buffer.concat(received), headers['content-encoding'])
      return { status, headers, body, wireBytes }
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof FetchError ? error : toFetchError(error)
    }
  }
  return { status, headers, chunks, readWhole }
}

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), br: promisify(brotliDecompress) }
/** Codings that change nothing: some fronts name them, or a character set. */
const PLAIN = /^(identity|none|binary|aws-chunked|(charset=)?utf-?8)?$/

/** Removes the content coding of a body (RFC 9110, section 8.4). Nested codings are refused. */
export async function decodeBody(body: Buffer, contentEncoding = ''): Promise<Buffer> {
  const codings = contentEncoding.toLowerCase().split(/[\s,]+/)
  const coding = codings.filter(name => !PLAIN.test(name)).join(', ')
  // A 304 or an error may name the coding of the file without having a body.
  if (coding === '' || body.length === 0) return body
  if (!Object.hasOwn(decoders, coding))
    throw new FetchError('invalid', `unknown content encoding ${quoteText(coding.slice(0, 40))}`)
  try {
    const decode = decoders[coding as keyof typeof decoders]
    // One chunk holds any window, so that zlib decodes it in a single call on its thread.
    return await decode(body, { maxOutputLength: MAX_DECODED_BYTES, chunkSize: 160 * 1024 })
  } catch (cause) {
    if (errnoCode(cause) === 'ERR_BUFFER_TOO_LARGE')
      throw new FetchError('permanent', `the ${coding} body decodes to more than ${MAX_DECODED_BYTES} bytes`, { cause })
    throw new FetchError('invalid', `the body is not valid ${coding} (${(cause as Error).message})`, { cause })
  }
}
