import { type IncomingMessage, type RequestListener, Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Connection } from './connection.js'
import { errorHeaders, errorObject, HttpError, plainError } from './error.js'
import { LIMITS, type Limits } from './limits.js'

/** How often idle connections are closed while the server finishes, ms. Requests on their way may still arrive meanwhile. */
const FINISH_MS = 50

/**
 * A node:http server that sends error objects also for what Node rejects itself: requests that its parser cannot read
 * (400), that are too large (414, 431) or too slow (408), an unsupported Expect (417), and too many connections (503).
 */
export class HardenedServer extends Server {
  private readonly open = new Set<Connection>()

  constructor(
    listener: RequestListener,
    private readonly limits: Limits = LIMITS,
  ) {
    super({
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytes,
      // Node answers a missing Host with an empty 400; `HostCheck` sends an error object.
      requireHostHeader: false,
    })
    // Beyond twice the limit they are closed without a response.
    this.maxConnections = 2 * limits.connections
    this.timeout = limits.idleMs
    this.on('connection', (socket: Socket) => this.add(socket))
    this.on('timeout', (socket: Socket) => {
      // A client that waits for a response may wait longer: an export can have many windows to download.
      if (Connection.of(socket).isAwaited) socket.setTimeout(limits.idleMs)
      else socket.destroy()
    })
    this.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // Node drops requests that it read together with an upgrade request: the client must not wait for their responses.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      Connection.of(request.socket).add(response, () => listener(request, response))
    })
    this.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
      Connection.of(socket).add(response, () => respond(response, plainError(417)))
    })
    this.on('clientError', refuseConnection)
    this.on('connect', (_request: IncomingMessage, socket: Socket) => {
      // Node hands such a connection over while responses to earlier requests may still be under way.
      socket.on('error', () => {}).setTimeout(limits.idleMs, () => socket.destroy())
      socket.resume()
      const error = new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
      const connection = Connection.of(socket)
      connection.afterResponses(() => refuse(connection, error))
    })
  }

  /** Node takes a connection for idle whose response is still being sent. `close` calls this. */
  override closeIdleConnections(): void {}

  /** Stops listening, answers what was received, and closes all connections: after the grace period whatever they do. */
  async finish(): Promise<void> {
    this.close()
    for (const connection of this.open) connection.finish()
    const end = performance.now() + this.limits.graceMs
    while (this.open.size > 0 && performance.now() < end) {
      await sleep(FINISH_MS)
      // On a busy machine the time is over before the event loop has read what arrived: let it do so first.
      await nextTurn()
      for (const connection of this.open) connection.closeIfIdle()
    }
    for (const { socket } of this.open) socket.destroy()
  }

  private add(socket: Socket): void {
    const connection = new Connection(socket)
    this.open.add(connection)
    socket.once('close', () => this.open.delete(connection))
    if (this.open.size <= this.limits.connections) return
    refuse(connection, new HttpError(503, 'Too many connections.', { headers: { 'retry-after': '5' } }))
  }
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
  else if (response === undefined || response.req.complete)
    connection.afterResponses(() => refuse(connection, httpError))
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

/** Writes an error response to a bare connection and ends it. */
function refuse(connection: Connection, error: HttpError): void {
  const body = JSON.stringify(errorObject(error))
  const headers = { ...lastHeaders(error, body), date: new Date().toUTCString() }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n`
  if (connection.socket.destroyed) return
  connection.socket.on('error', () => {})
  connection.end(`${status}${lines.join('')}\r\n${body}`)
}

function lastHeaders(error: HttpError, body: string): Record<string, string> {
  return { ...errorHeaders(error), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
}
