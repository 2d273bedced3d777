import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { errorBytes, HttpError, sendError } from './errors.js'

/** Limits on what a client may use; times in ms. Node's defaults let a slow body stay open for minutes. */
export const LIMITS = {
  headersMs: 5_000,
  requestMs: 10_000,
  /** How often the two limits above are checked. */
  checkMs: 1_000,
  keepAliveMs: 10_000,
  bodyBytes: 16 * 1024,
  requests: 1_000,
  /** How long an export waits for its turn. */
  exportWaitMs: 10_000,
  /** How often it is looked whether a candle has closed, and how long a reader of events may take nothing. */
  lookMs: 1_000,
  stalledMs: 60_000,
  /** How long requests that were received may take once the server is closing. */
  graceMs: 5_000,
}

export type Limits = typeof LIMITS

/**
 * Makes a server send the error object also for what Node rejects itself: requests that its parser cannot read, that are too large or too
 * slow, an unsupported Expect, and CONNECT. Returns what ends all connections of a server that has stopped listening: when the requests
 * that were received are answered, or after `graceMs`.
 */
export function watchConnections(server: Server, { graceMs }: Limits): () => Promise<void> {
  /** The open connections, each with the response to its last request: it is sent after those before it. */
  const open = new Map<Socket, ServerResponse | undefined>()
  /** Answers what is no request, after the responses to those before it. */
  const refuse = (socket: Socket, error: HttpError) => {
    const latest = open.get(socket)
    const end = () => endSlowly(socket, errorBytes(error))
    if (latest === undefined || latest.closed) end()
    else latest.once('close', end)
  }
  // Node takes a connection for idle whose response is still being sent. Fastify calls this when it closes.
  server.closeIdleConnections = () => {}
  server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    // Node listens no more after CONNECT, while earlier responses are still being written.
    socket.on('error', () => {})
    // Node calls this to end a connection after its last response.
    socket.destroySoon = () => endSlowly(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => open.set(socket, response))
  server.on('checkExpectation', (request, response) => {
    open.set(request.socket, response)
    sendError(new HttpError(417), request, response, { isLast: true })
  })
  server.on('clientError', async (error: Error & { readonly code?: string }, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (await hasArrived(socket, open))) return
    const latest = open.get(socket)
    const httpError = new HttpError(PARSER_ERRORS[error.code ?? ''] ?? 400)
    if (error.code === 'ECONNRESET') socket.destroy()
    else if (latest === undefined || latest.req.complete) refuse(socket, httpError)
    // The body of the last request is malformed: that request gets one response in all.
    else if (latest.headersSent) endSlowly(socket)
    else sendError(httpError, latest.req, latest, { isLast: true })
  })
  // An idle connection; Node would destroy it.
  server.on('timeout', async (socket: Socket) => {
    const before = socket.bytesRead
    await nextTurn()
    if (socket.bytesRead === before) socket.destroy()
  })
  server.on('connect', (_request, socket: Socket) => {
    socket.resume()
    refuse(socket, new HttpError(405, 'This server is no proxy.', { headers: { allow: 'GET, HEAD, OPTIONS, POST' } }))
  })
  return async () => {
    for (const end = performance.now() + graceMs; open.size > 0 && performance.now() < end; ) {
      // Requests on their way may still arrive, which the event loop has to read first.
      await sleep(50)
      await nextTurn()
      for (const [socket, latest] of open) if (latest?.closed !== false && !socket.writableEnded) socket.destroy()
    }
    for (const socket of open.keys()) socket.destroy()
    // Requests hear that their clients left before what they wait for ends.
    await nextTurn()
  }
}

/**
 * Whether the request for which a timer of Node fires is there meanwhile: on a machine that was busy or asleep, timers fire before the
 * event loop reads what has arrived.
 */
async function hasArrived(socket: Socket, open: ReadonlyMap<Socket, ServerResponse | undefined>): Promise<boolean> {
  const before = open.get(socket)
  const wasComplete = before?.req.complete
  await nextTurn()
  const latest = open.get(socket)
  return latest?.req.complete === true && (latest !== before || !wasComplete)
}

/**
 * Ends a connection so that the last bytes arrive: if it were closed while data comes in, the kernel would discard them. A client that
 * keeps sending, or never reads, gets one second.
 */
function endSlowly(socket: Socket, bytes = ''): void {
  if (socket.writableEnded) return
  socket.end(bytes)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), 1_000).unref()
  socket.once('close', () => clearTimeout(timer))
}

const PARSER_ERRORS: Partial<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}
