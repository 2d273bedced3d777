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

/** Bounds on what a client may take of us; times in ms. Node's own let a slow body stay open for minutes. */
export const LIMITS = {
  headersMs: 5_000,
  requestMs: 10_000,
  /** How often the two above are looked at. */
  checkMs: 1_000,
  /** A connection that sends or takes nothing for so long is dropped: a reader that has stopped reading, too. */
  idleMs: 30_000,
  keepAliveMs: 10_000,
  headerBytes: 16 * 1024,
  urlBytes: 4 * 1024,
  bodyBytes: 64 * 1024,
  connections: 1_000,
}

/**
 * A server of node:http whose own refusals are error objects too: requests its parser cannot read (400), that are too
 * large (414, 431) or come too slowly (408), that expect what we do not do (417), and connections beyond the cap (503).
 */
export function hardenedServer(listener: RequestListener, limits: typeof LIMITS = LIMITS): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytes,
      // Node answers a missing Host with an empty 400; ours has a body.
      requireHostHeader: false,
    },
    (request, response) => {
      latest.set(request.socket, response)
      // Node loses what it read together with a request for another protocol: nobody is to wait for answers to that.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      // What comes behind the last answer of a connection is not for us to do any more.
      if (!request.socket.writableEnded) listener(request, response)
    },
  )
  server.timeout = limits.idleMs
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response)
    answer(response, plainError(417))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node leaves such a connection to us, in the midst of answers to requests before.
    socket.on('error', () => {}).once('timeout', () => socket.destroy())
    socket.resume()
    const error = new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
    inTurn(socket, () => refuse(socket, error))
  })
  server.on('connection', (socket: Socket) => {
    // So Node ends a connection after its last answer.
    socket.destroySoon = () => end(socket)
  })
  capConnections(server, limits.connections)
  return server
}

/** The last response of a connection; further requests may come before the answers to others have left. */
const latest = new WeakMap<Socket, ServerResponse>()

/** Does something when the answers to all requests of a connection have left. */
function inTurn(socket: Socket, action: () => void): void {
  const response = latest.get(socket)
  if (response === undefined || response.closed) action()
  else response.once('close', action)
}

/** Connections beyond the cap are told so and closed; far beyond it, closed without a word. */
function capConnections(server: Server, most: number): void {
  server.maxConnections = 2 * most
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= most) return
    refuse(socket, new HttpError(503, 'Too many connections.', { headers: { 'retry-after': '5' } }))
  })
}

/** Why Node gave a connection up: a code, and the bytes that it could not read. */
interface ParserError {
  readonly code?: string
  readonly rawPacket?: unknown
}

/** Connections that are given up: more may come of what cannot be read. */
const abandoned = new WeakSet<Socket>()

/** Answers what Node's parser refused, where an answer can still be heard, and in its turn. */
export function refuseConnection(error: ParserError, socket: Socket): void {
  if (abandoned.has(socket)) return
  abandoned.add(socket)
  const response = latest.get(socket)
  const refusal = plainError(parserErrorStatus(error))
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (response === undefined || response.req.complete) inTurn(socket, () => refuse(socket, refusal))
  // The body of the last request is at fault: that is answered once, if it was not before.
  else if (response.headersSent) socket.destroySoon()
  else answer(response, refusal)
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

/** Answers with an error as the last answer of the connection. */
function answer(response: ServerResponse, error: HttpError): void {
  const body = JSON.stringify(errorObject(error))
  response.writeHead(error.statusCode, lastHeaders(error, body)).end(body)
}

/** Writes an error answer to a bare connection and ends it. */
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
 * Ends a connection so that what was written last arrives: closing it while more comes in makes the kernel throw away
 * what has not been read. One that goes on sending, or never reads, is not waited for.
 */
function end(socket: Socket, last = ''): void {
  abandoned.add(socket)
  socket.end(last)
  const limit = setTimeout(() => socket.destroy(), 1_000).unref()
  socket.once('close', () => clearTimeout(limit))
}

function lastHeaders(error: HttpError, body: string): Record<string, string> {
  return { ...errorHeaders(error), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
}
