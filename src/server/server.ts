import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Warn } from '../download/sources/window-source.js'
import { KlinesError } from '../klines/errors.js'
import { Mirror } from '../mirror/mirror.js'
import { type AppOptions, createApp } from './app.js'
import { addressUrl } from './http/host.js'
import { Tree } from './tree/tree.js'
import { type OpenSource, Upstream } from './tree/upstream.js'

const DEFAULT_HOST = '127.0.0.1'

/** A server that listens. */
export interface RunningServer {
  /** Its address, such as `http://127.0.0.1:8787`. */
  readonly url: string
  /** Stops accepting connections, answers the requests that were received (for five seconds at most), and closes. */
  close(): Promise<void>
}

/** What to serve and where. */
export interface ServerOptions extends Pick<AppOptions, 'streamText' | 'onError' | 'limits'> {
  /** Folder of the mirror. */
  readonly root: string
  /** Base address of the mirror, as `mirror.json` has it. Default: what that says. */
  readonly baseUrl?: string | undefined
  /** Default: loopback only. */
  readonly host?: string | undefined
  /** 0, the default, picks a free port. */
  readonly port?: number | undefined
  /** Opens the service from which missing files and windows that are not final are fetched. */
  readonly upstream?: OpenSource | undefined
  /** Called with each corrupt file of the mirror, once for each of its versions. */
  readonly warn?: Warn | undefined
  /** Called after every request. */
  readonly log?: RequestLog | undefined
  /** The current time, ms UTC. */
  readonly now?: () => number
}

/**
 * Serves a mirror: the file tree of the klines service, the greeting API, their OpenAPI documents and a page. Throws
 * `address_unusable` when it cannot listen, `bad_option` for a `streamText` without words.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port = 0, now = Date.now } = options
  const upstream = options.upstream && new Upstream(options.upstream, now)
  const tree = new Tree(new Mirror(options.root, options.baseUrl), { now, upstream, warn: options.warn })
  const server = createApp({ ...options, host, tree })
  await upstream?.start()
  if (options.log) logRequests(server, options.log)
  try {
    // The first address of "localhost" may be ::1, which not every client tries.
    server.listen({ host: host === 'localhost' ? DEFAULT_HOST : host, port })
    await once(server, 'listening')
  } catch (error) {
    throw toListenError(error as NodeJS.ErrnoException, host, port)
  }
  const close = async () => {
    const closed = once(server, 'close')
    await server.finish()
    await closed
    await upstream?.close()
  }
  return { url: serverUrl(server.address() as AddressInfo), close }
}

/** The URL for a client on this machine: a server on all addresses is reachable over the loopback. */
function serverUrl(listening: AddressInfo): string {
  const isAny = listening.address === '0.0.0.0' || listening.address === '::'
  return addressUrl(isAny ? { ...listening, address: DEFAULT_HOST, family: 'IPv4' } : listening)
}

const LISTEN_ERRORS: Record<string, { reason: string; advice: string }> = {
  EADDRINUSE: {
    reason: 'the port is in use',
    advice: 'Stop the program that uses it, or choose another with `port`; `port: 0` picks a free port.',
  },
  EACCES: { reason: 'this user may not use that port', advice: 'Name a port above 1023 with `port`.' },
  EADDRNOTAVAIL: { reason: 'this machine has no such address', advice: 'Name one it has with `host`.' },
  ENOTFOUND: { reason: 'there is no such host', advice: 'Name an address of this machine with `host`.' },
}

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const known = LISTEN_ERRORS[error.code ?? '']
  if (known === undefined) return error
  const message = `Cannot listen on ${host}, port ${port}: ${known.reason}.`
  const data = { host, port }
  return new KlinesError('address_unusable', message, { cause: error, suggestions: [known.advice], data })
}

/** One request that was answered, or whose client disconnected. */
export interface LoggedRequest {
  readonly method: string
  readonly url: string
  /** Undefined when the client disconnected before the response. */
  readonly status: number | undefined
  /** Bytes of the whole response. */
  readonly bytes: number
  readonly tookMs: number
}

type RequestLog = (request: LoggedRequest) => void

/** Calls `log` after every request of a server. Requests that Node's parser rejects are not logged. */
function logRequests(server: Server, log: RequestLog): void {
  server.on('request', ({ method = '', url = '', socket }: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const before = socket.bytesWritten
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : undefined
      log({ method, url, status, bytes: socket.bytesWritten - before, tookMs: performance.now() - started })
    })
  })
}
