import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KlinesError } from '../candles/errors.js'
import { type AppOptions, createApp } from './app.js'
import { addressUrl, machineUrls } from './hosts.js'
import { ServedMirror } from './served-mirror.js'
import { Tree } from './tree.js'
import { type OpenUpstream, Upstream } from './upstream.js'

const DEFAULT_HOST = '127.0.0.1'

/** A server that listens. */
export interface RunningServer {
  /** Its address, such as `http://127.0.0.1:8787`. */
  readonly url: string
  /** Its addresses for other machines, if it listens on all addresses of this one. */
  readonly otherUrls: readonly string[]
  /** Stops accepting connections, answers the requests that were received (for five seconds at most), and closes. */
  close(): Promise<void>
}

/** What to serve and where. */
export interface ServerOptions extends Pick<AppOptions, 'streamText' | 'onError' | 'limits' | 'allowHost'> {
  /** Folder of the mirror. */
  readonly root: string
  /** The source that the mirror is going to have. Default: what `mirror.json` says. */
  readonly source?: string | undefined
  /** Default: loopback only. */
  readonly host?: string | undefined
  /** 0, the default, picks a free port. */
  readonly port?: number | undefined
  /** Opens the service from which missing files and windows that are not final are fetched. */
  readonly upstream?: OpenUpstream | undefined
  /** Called with what the operator should know, such as a corrupt file of the mirror, once for each of its versions. */
  readonly warn?: ((warning: string) => void) | undefined
  /** Called after every request. */
  readonly log?: RequestLog | undefined
  /** The current time, ms UTC. */
  readonly now?: () => number
}

/**
 * Serves a mirror: the file tree of the klines service, exports, the greeting API, their OpenAPI documents and pages. Throws
 * `address_unusable` when it cannot listen, `bad_option` for a `streamText` without words, and what `upstream` throws.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port = 0, now = Date.now, root, source, warn = () => {}, log } = options
  const mirror = new ServedMirror(root, source, once(warn))
  const upstream = options.upstream && new Upstream(options.upstream, mirror, now)
  const tree = new Tree(mirror, upstream, now, warn)
  const { app, close } = await createApp({ ...options, host, tree, warn, onRequest: log && requestLogger(log) })
  await upstream?.start()
  try {
    // The first address of "localhost" may be ::1, which not every client tries.
    await app.listen({ host: host === 'localhost' ? DEFAULT_HOST : host, port })
  } catch (error) {
    await Promise.all([app.close(), upstream?.close()])
    throw toListenError(error as NodeJS.ErrnoException, host, port)
  }
  const address = app.server.address() as AddressInfo
  return {
    url: serverUrl(address),
    otherUrls: machineUrls(address),
    close: async () => {
      await close()
      await upstream?.close()
    },
  }
}

/** Passes on each text once. */
function once(warn: (warning: string) => void): (warning: string) => void {
  const said = new Set<string>()
  return warning => {
    if (said.has(warning)) return
    said.add(warning)
    warn(warning)
  }
}

/** The URL for a client on this machine: a server on all addresses is reachable over the loopback. */
function serverUrl(listening: AddressInfo): string {
  const isAny = listening.address === '0.0.0.0' || listening.address === '::'
  return addressUrl(isAny ? { ...listening, address: DEFAULT_HOST, family: 'IPv4' } : listening)
}

const LISTEN_ERRORS: Record<string, { reason: string; advice: string }> = {
  EADDRINUSE: {
    reason: 'the port is in use',
    advice: 'Stop the program that uses it, or choose another with --port; --port 0 picks a free port.',
  },
  EACCES: { reason: 'this user may not use that port', advice: 'Name a port above 1023 with --port.' },
  EADDRNOTAVAIL: { reason: 'this machine has no such address', advice: 'Name one it has with --host.' },
  ENOTFOUND: { reason: 'there is no such host', advice: 'Name an address of this machine with --host.' },
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

/** Calls `log` after every request. Requests that Node's parser rejects are not logged. */
function requestLogger(log: RequestLog) {
  return ({ method = '', url = '', socket }: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const before = socket.bytesWritten
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : undefined
      log({ method, url, status, bytes: socket.bytesWritten - before, tookMs: performance.now() - started })
    })
  }
}
