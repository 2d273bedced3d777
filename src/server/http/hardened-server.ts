import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { Connection, Connections } from './connections.js'
import { errorHeaders, errorObject, HttpError, plainError } from './error.js'
import { LIMITS, type Limits } from './limits.js'

/** How often a connection is looked at before it has been idle for too long. */
const IDLE_CHECKS = 10

/**
 * A node:http server that sends error objects also for what Node rejects itself: requests that its parser cannot read
 * (400), that are too large (414, 431) or too slow (408), an unsupported Expect (417), and too many connections (503).
 */
export function hardenedServer(listener: RequestListener, limits: Limits = LIMITS): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytes,
      // Node answers a missing Host with an empty 400; `HostCheck` sends an error object.
      requireHostHeader: false,
    },
    (request, response) => {
      // Node drops requests that it read together with an upgrade request: the client must not wait for their responses.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      Connection.of(request.socket).add(response, () => listener(request, response))
    },
  )
  new Connections(server, limits, ({ socket }) =>
    refuse(socket, new HttpError(503, 'Too many connections.', { headers: { 'retry-after': '5' } })),
  )
  server.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
    Connection.of(socket).add(response, () => respond(response, plainError(417)))
  })
  server.on('clientError', refuseConnection)
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node hands such a connection over while responses to earlier requests may still be under way.
    socket.on('error', () => {}).setTimeout(limits.idleMs, () => socket.destroy())
    socket.resume()
    const error = new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
    Connection.of(socket).afterResponses(() => refuse(socket, error))
  })
  dropIdle(server, limits.idleMs)
  return server
}

/**
 * Drops connections without traffic. Node's timer counts the part of a response that the kernel took at once as traffic at
 * its first check, and waits twice as long for a client that never reads. So it is set to a fraction of the time. A client
 * that waits for a response may wait longer: an export can have many windows to download.
 */
function dropIdle(server: Server, idleMs: number): void {
  const intervalMs = idleMs / IDLE_CHECKS
  server.timeout = intervalMs
  server.on('timeout', (socket: Socket) => {
    // Node sets another time after a response: that of a connection that is kept for the next request.
    const isKept = socket.timeout !== intervalMs
    const connection = Connection.of(socket)
    const isIdle = connection.countSilence(intervalMs) >= idleMs && !connection.isAwaited
    if (isKept || isIdle) socket.destroy()
    else socket.setTimeout(intervalMs)
  })
}

/** Why Node gave up on a connection: a code, and the bytes that it could not parse. */
interface ParserError {
  readonly code?: string
  readonly rawPacket?: unknown
}

/** Responds to a request that Node's parser rejected, after the responses before it, if the client can still read. */
function refuseConnection(error: ParserError, socket: Socket): void {
  const connection = Connection.of(socket)
  if (connection.isEnding) return
  connection.isEnding = true
  const response = connection.latest
  const httpError = plainError(parserErrorStatus(error))
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (response === undefined || response.req.complete) connection.afterResponses(() => refuse(socket, httpError))
  // The body of the last request is malformed: that request gets one response in all.
  else if (response.headersSent) socket.destroySoon()
  else respond(response, httpError)
}

function parserErrorStatus({ code = '', rawPacket }: ParserError): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code === 'HPE_INVALID_VERSION' || code === 'HPE_PAUSED_H2_UPGRADE') return 505
  if (code !== 'HPE_HEADER_OVERFLOW') return 400
  const [, target = ''] =
    /^[A-Z-]+ ([^\r\n]*)/.exec(Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '') ?? []
  return target.length > LIMITS.urlBytes ? 414 : 431
}

/** Sends an error as the last response of the connection. */
function respond(response: ServerResponse, error: HttpError): void {
  const body = JSON.stringify(errorObject(error))
  response.writeHead(error.statusCode, lastHeaders(error, body)).end(body)
}

/** Writes an error response to a bare socket and ends it. */
function refuse(socket: Socket, error: HttpError): void {
  const body = JSON.stringify(errorObject(error))
  const headers = { ...lastHeaders(error, body), date: new Date().toUTCString() }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n`
  if (socket.destroyed) return
  socket.on('error', () => {})
  Connection.of(socket).end(`${status}${lines.join('')}\r\n${body}`)
}

function lastHeaders(error: HttpError, body: string): Record<string, string> {
  return { ...errorHeaders(error), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
}
