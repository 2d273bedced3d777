import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { errorHeaders, errorObject, HttpError, plainError } from './http-error.js'

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
    listener,
  )
  server.timeout = limits.idleMs
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const error = plainError(417, { headers: { connection: 'close' } })
    response.writeHead(417, errorHeaders(error)).end(JSON.stringify(errorObject(error)))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    refuse(socket, new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } }))
  })
  capConnections(server, limits.connections)
  return server
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

/** Answers what Node's parser refused, where an answer can still be heard. */
export function refuseConnection(error: ParserError, socket: Socket): void {
  // A response that has begun cannot become another one; node:http knows it by this field, and has no other way to ask.
  const begun = (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent === true
  if (error.code === 'ECONNRESET' || !socket.writable || begun) socket.destroy()
  else refuse(socket, plainError(statusOf(error)))
}

function statusOf({ code, rawPacket }: ParserError): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code !== 'HPE_HEADER_OVERFLOW') return 400
  // Still in its first line when there was too much of it: that is the address.
  const isFirstLine = Buffer.isBuffer(rawPacket) && /^[A-Z]+ [^\r\n]*$/.test(rawPacket.toString('latin1'))
  return isFirstLine ? 414 : 431
}

/** Writes an error answer to a bare connection and ends it. */
function refuse(socket: Socket, error: HttpError): void {
  const body = JSON.stringify(errorObject(error))
  const headers = { ...errorHeaders(error), 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n`
  socket.on('error', () => {})
  socket.end(`${status}${lines.join('')}\r\n${body}`)
  // One that goes on sending, or never reads, is not waited for.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
