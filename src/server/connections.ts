import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { errorBytes, HttpError, plainError, sendError } from './errors.js'

/** Limits on what a client may use; times in ms. Node's defaults let a slow body stay open for minutes. */
export const LIMITS = {
  headersMs: 5_000,
  requestMs: 10_000,
  /** How often the two limits above are checked. */
  checkMs: 1_000,
  keepAliveMs: 10_000,
  bodyBytes: 16 * 1024,
  requests: 1_000,
  /** How long requests that were received may take once the server is closing. */
  graceMs: 5_000,
}

export type Limits = typeof LIMITS

/** How long a client may take to close a connection that the server has ended, ms. */
const END_MS = 1_000
/** How often idle connections are closed while the server finishes, ms. Requests on their way may still arrive meanwhile. */
const FINISH_MS = 50

/** An open connection. */
interface Connection {
  /** Received requests whose responses are not sent. */
  underWay: number
  /** The response to the last received request. */
  latest?: ServerResponse
  /** Whether its last response was written. The parser may report errors of what follows. */
  isEnding?: boolean
}

/** A server of node:http, and what ends it. */
export interface HttpServer {
  readonly server: Server
  /** Answers what was received, and closes all connections of a server that has stopped listening: in the end whatever they do. */
  finish(): Promise<void>
}

/**
 * Makes a server that sends the error object also for what Node rejects itself: requests that its parser cannot read (400), that are
 * too large (414, 431) or too slow (408), an unsupported Expect (417), and CONNECT (405).
 */
export function createHttpServer(listener: RequestListener, limits: Limits): HttpServer {
  const open = new Map<Socket, Connection>()
  const connectionOf = (socket: Socket) => open.get(socket) ?? { underWay: 0, isEnding: true }
  /** Counts a request until its response is sent. */
  const begin = (socket: Socket, response: ServerResponse) => {
    const connection = connectionOf(socket)
    connection.latest = response
    connection.underWay++
    response.once('close', () => connection.underWay--)
  }
  /** Answers what is no request, after the responses to those before it. */
  const refuse = (socket: Socket, error: HttpError) => {
    const connection = connectionOf(socket)
    const { latest } = connection
    connection.isEnding = true
    const end = () => {
      if (!socket.destroyed) endSlowly(socket, errorBytes(error))
    }
    if (latest === undefined || latest.closed) end()
    else latest.once('close', end)
  }
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Node answers a missing Host with an empty 400.
      requireHostHeader: false,
    },
    (request, response) => {
      begin(request.socket, response)
      listener(request, response)
    },
  )
  server.maxRequestsPerSocket = limits.requests
  // Node takes a connection for idle whose response is still being sent. `close` calls this.
  server.closeIdleConnections = () => {}
  server.on('connection', (socket: Socket) => {
    open.set(socket, { underWay: 0 })
    // Node stops listening on a connection with CONNECT, to which responses may still be written.
    socket.on('error', () => {})
    // Node calls this to end a connection after its last response.
    socket.destroySoon = () => endSlowly(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('checkExpectation', (request, response) => {
    begin(request.socket, response)
    sendError(plainError(417), request, response, { isLast: true })
  })
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = connectionOf(socket)
    const { latest, isEnding } = connection
    if (isEnding) return
    const httpError = plainError(parserErrorStatus(error))
    if (error.code === 'ECONNRESET') socket.destroy()
    else if (latest === undefined || latest.req.complete) refuse(socket, httpError)
    else {
      // The body of the last request is malformed: that request gets one response in all.
      connection.isEnding = true
      if (latest.headersSent) endSlowly(socket)
      else sendError(httpError, latest.req, latest, { isLast: true })
    }
  })
  server.on('connect', (_request, socket: Socket) => {
    socket.resume()
    refuse(socket, new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } }))
  })
  const finish = async () => {
    const end = performance.now() + limits.graceMs
    while (open.size > 0 && performance.now() < end) {
      await sleep(FINISH_MS)
      // On a busy machine the time is over before the event loop has read what arrived: let it do so first.
      await nextTurn()
      for (const [socket, { underWay }] of open) if (underWay === 0 && !socket.writableEnded) socket.destroy()
    }
    for (const socket of open.keys()) socket.destroy()
  }
  return { server, finish }
}

/**
 * Ends a connection so that the last bytes written arrive: closing it while data comes in would make the kernel discard what the client
 * has not read yet. A client that keeps sending, or never reads, gets one second.
 */
function endSlowly(socket: Socket, bytes = ''): void {
  socket.end(bytes)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), END_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Why Node gave up on a connection: a code, and the bytes that it could not parse. */
interface ParserError {
  readonly code?: string
  readonly rawPacket?: unknown
}

function parserErrorStatus({ code = '', rawPacket }: ParserError): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code === 'HPE_INVALID_VERSION' || code === 'HPE_PAUSED_H2_UPGRADE') return 505
  if (code !== 'HPE_HEADER_OVERFLOW') return 400
  // A long target, or long fields.
  return Buffer.isBuffer(rawPacket) && /^[A-Z-]+ [^\r\n]{4096}/.test(rawPacket.toString('latin1')) ? 414 : 431
}
