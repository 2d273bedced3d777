import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { Mirror } from '../mirror/mirror.js'
import { errorObject } from './error-object.js'
import { treeFile } from './tree-response.js'

/** A server that runs. */
export interface RunningServer {
  /** Its base address, such as `http://127.0.0.1:8787`. */
  readonly url: string
  close(): Promise<void>
}

/** What to serve and where. */
export interface ServerOptions {
  /** Folder of the mirror. */
  readonly root: string
  /** Default: loopback only. */
  readonly host?: string
  /** 0 takes a free one. */
  readonly port?: number
  readonly now?: () => number
}

/** Starts a server over a mirror: the paths of service.md, endpoints 1 to 7, and the same form for all intervals. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0 } = options
  const app = createApp(options)
  const url = await app.listen({ host, port })
  return { url, close: () => app.close() }
}

/** The application without a socket. */
export function createApp({ root, now = Date.now }: ServerOptions): FastifyInstance {
  // What Fastify itself refuses (a malformed %-escape) never comes to the error handler.
  const app = Fastify({ forceCloseConnections: true, frameworkErrors: (error, _, reply) => sendError(error, reply) })
  const mirror = new Mirror(root)
  app.get<{ Params: { '*': string } }>('/api/klines/*', (request, reply) => {
    const file = treeFile(mirror, `api/klines/${request.params['*']}`, now())
    if (typeof file === 'string') return reply.code(404).send(errorObject(404, file))
    reply.header('content-type', 'application/json; charset=utf-8')
    if (file.mtimeMs === undefined) return reply.send(file.bytes)
    // HTTP dates have whole seconds (RFC 9110, 5.6.7).
    const modified = Math.floor(file.mtimeMs / 1000) * 1000
    reply.header('last-modified', new Date(modified).toUTCString())
    if (Date.parse(request.headers['if-modified-since'] ?? '') >= modified) return reply.code(304).send()
    return reply.send(file.bytes)
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(errorObject(404, 'There is nothing at this path.')))
  app.setErrorHandler((error: Refusal, _request, reply) => sendError(error, reply))
  return app
}

interface Refusal {
  readonly statusCode?: number | undefined
  readonly message: string
}

function sendError({ statusCode = 500, message }: Refusal, reply: FastifyReply): void {
  reply.code(statusCode).send(errorObject(statusCode, statusCode < 500 ? message : 'Internal error.'))
}
