import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { errorHeaders, errorObject, HttpError, plainError } from './error.js'

/** Limits on what a client may use; times in ms. Node's defaults let a slow body stay open for minutes. */
export const LIMITS = {
  headersMs: 5_000,
  requestMs: 10_000,
  /** How often the two limits above are checked. */
  checkMs: 1_000,
  /** A connection without traffic in either direction is dropped after this, also one whose client stopped reading. */
  idleMs: 30_000,
  keepAliveMs: 10_000,
  headerBytes: 16 * 1024,
  urlBytes: 4 * 1024,
  bodyBytes: 64 * 1024,
  connections: 1_000,
}

/**
 * A node:http server that sends error objects also for what Node rejects itself: requests that its parser cannot read
 * (400), that are too large (414, 431) or too slow (408), an unsupported Expect (417), and too many connections (503).
 */
export function hardenedServer(listener: RequestListener, limits: typeof LIMITS = LIMITS): Server {
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
      latest.set(request.socket, response)
      // Node drops requests that it read together with an upgrade request: the client must not wait for their responses.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      // A request after the last response of a connection is ignored.
      if (!request.socket.writableEnded) listener(request, response)
    },
  )
  server.timeout = limits.idleMs
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response)
    respond(response, plainError(417))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node hands such a connection over while responses to earlier requests may still be under way.
    socket.on('error', () => {}).once('timeout', () => socket.destroy())
    socket.resume()
    const error = new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
    afterResponses(socket, () => refuse(socket, error))
  })
  server.on('connection', (socket: Socket) => {
    // Node calls this to end a connection after its last response.
    socket.destroySoon = () => end(socket)
  })
  limitConnections(server, limits.connections)
  return server
}

/** The last response of each connection; pipelined requests arrive before earlier responses have been sent. */
const latest = new WeakMap<Socket, ServerResponse>()

/** Runs an action once the responses to all requests of a connection have been sent. */
function afterResponses(socket: Socket, action: () => void): void {
  const response = latest.get(socket)
  if (response === undefined || response.closed) action()
  else response.once('close', action)
}

const connections = new WeakMap<Server, Set<Socket>>()

/** The open connections of a hardened server. */
export function openConnections(server: Server): ReadonlySet<Socket> {
  return connections.get(server) ?? new Set()
}

/** Connections beyond the limit get 503 and are closed; beyond twice the limit they are closed without a response. */
function limitConnections(server: Server, limit: number): void {
  server.maxConnections = 2 * limit
  const open = new Set<Socket>()
  connections.set(server, open)
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= limit) return
    refuse(socket, new HttpError(503, 'Too many connections.', { headers: { 'retry-after': '5' } }))
  })
}

/** Why Node gave up on a connection: a code, and the bytes that it could not parse. */
interface ParserError {
  readonly code?: string
  readonly rawPacket?: unknown
}

/** Connections that are ending: the parser may report further errors for them. */
const abandoned = new WeakSet<Socket>()

/** Responds to a request that Node's parser rejected, after the responses before it, if the client can still read. */
export function refuseConnection(error: ParserError, socket: Socket): void {
  if (abandoned.has(socket)) return
  abandoned.add(socket)
  const response = latest.get(socket)
  const httpError = plainError(parserErrorStatus(error))
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (response === undefined || response.req.complete) afterResponses(socket, () => refuse(socket, httpError))
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
  end(socket, `${status}${lines.join('')}\r\n${body}`)
}

/**
 * Ends a connection so that the last bytes written arrive: closing it while data comes in would make the kernel discard
 * what the client has not read yet. A client that keeps sending, or never reads, gets one second.
 */
function end(socket: Socket, bytes = ''): void {
  abandoned.add(socket)
  socket.end(bytes)
  const timer = setTimeout(() => socket.destroy(), 1_000).unref()
  socket.once('close', () => clearTimeout(timer))
}

function lastHeaders(error: HttpError, body: string): Record<string, string> {
  return { ...errorHeaders(error), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
}
