import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { KlinesError } from '../klines/errors.js'
import { Mirror } from '../mirror/mirror.js'
import { type AppOptions, createApp } from './app.js'
import { answerRepeats } from './repeats.js'
import { logRequests, type RequestLog } from './request-log.js'
import { Tree } from './tree/tree.js'
import { type OpenSource, Upstream } from './tree/upstream.js'

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 8787

/** How long requests may go on when the server is told to end, ms. */
const DRAIN_MS = 5_000
/** How often connections without a request are closed meanwhile, ms. */
const REAP_MS = 50

/** A server that runs. */
export interface RunningServer {
  /** Its address, such as `http://127.0.0.1:8787`. */
  readonly url: string
  /** Takes no more connections, lets requests under way end (for five seconds at most), and closes. */
  close(): Promise<void>
}

/** What to serve and where. */
export interface ServerOptions extends Pick<AppOptions, 'strict' | 'onError' | 'limits'> {
  /** Folder of the mirror. */
  readonly root: string
  /** Default: loopback only. */
  readonly host?: string | undefined
  /** 0 takes a free one, which is the default. */
  readonly port?: number | undefined
  /** Opens the service that what is missing or open is fetched from. */
  readonly upstream?: OpenSource | undefined
  /** Told of every request that was answered. */
  readonly log?: RequestLog | undefined
  /** The present, ms UTC. */
  readonly now?: () => number
}

/**
 * Starts a server over a mirror: all endpoints of service.md, and what describes them. Throws `address_unusable` where it
 * cannot listen.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port = 0, now = Date.now } = options
  const upstream = options.upstream && new Upstream(options.upstream, now)
  await upstream?.start()
  const tree = new Tree(new Mirror(options.root), now, upstream)
  const app = createApp({ ...options, host, tree })
  if (options.log) logRequests(app.server, options.log)
  else answerRepeats(app.server, tree)
  const connections = trackConnections(app.server)
  try {
    // Fastify would listen on both addresses of that name, of which one may be missing.
    await app.listen({ host: host === 'localhost' ? DEFAULT_HOST : host, port })
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException, host, port)
  }
  const close = async () => {
    const drained = drain(app.server, connections)
    await Promise.all([app.close(), drained])
    await upstream?.close()
  }
  return { url: serverUrl(app.server.address() as AddressInfo), close }
}

/** Ends connections as their requests end, and all of them when the time is over. */
async function drain(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  for (let waited = 0; waited < DRAIN_MS && connections.size > 0; waited += REAP_MS) {
    server.closeIdleConnections()
    // Node waits for the first request of a connection, which may never come: browsers connect before they need to.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    await sleep(REAP_MS)
  }
  server.closeAllConnections()
}

/** The connections of a server that are open. */
function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/** What a client on this machine writes: a server on all addresses is reached over the loopback. */
function serverUrl({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

const REASONS: Record<string, { why: string; advice: string }> = {
  EADDRINUSE: {
    why: 'the port is in use',
    advice: 'End what uses it, or name another with --port; --port 0 takes a free one.',
  },
  EACCES: { why: 'this user may not use that port', advice: 'Name a port above 1023 with --port.' },
  EADDRNOTAVAIL: { why: 'this machine has no such address', advice: 'Name one it has with --host.' },
  ENOTFOUND: { why: 'there is no such host', advice: 'Name an address of this machine with --host.' },
}

function unusable(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const { why, advice } = REASONS[error.code ?? ''] ?? {}
  if (why === undefined || advice === undefined) return error
  const message = `Cannot listen on ${host}, port ${port}: ${why}.`
  return new KlinesError('address_unusable', message, { cause: error, suggestions: [advice], data: { host, port } })
}
