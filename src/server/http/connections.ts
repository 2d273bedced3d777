import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from './limits.js'

/** Requests of a connection that are answered at the same time. */
const MAX_UNDER_WAY = 8
/** No further request is answered while more bytes than this wait to be sent over the connection. */
const MAX_UNSENT_BYTES = 64 * 1024
/** How long a client may take to close a connection that the server has ended, ms. */
const END_MS = 1_000

/** A request that waits for its turn. */
interface WaitingRequest {
  readonly response: ServerResponse
  readonly answer: () => void
}

/**
 * A connection of a client, and its requests in order. Node passes on all pipelined requests of a packet at once. Here a few
 * are answered at a time; the others wait, and as long as one waits, nothing more is read from the socket.
 */
export class Connection {
  private static readonly all = new WeakMap<Socket, Connection>()

  /** Whether no further request is answered. The parser may report errors of such a connection. */
  isEnding = false
  /** The response to the last received request. */
  latest: ServerResponse | undefined
  private readonly waiting: WaitingRequest[] = []
  private readonly underWay = new Set<ServerResponse>()
  private isFinishing = false
  private isScheduled = false
  private silence = { traffic: '', time: 0, ms: 0 }

  /** `onWaiting` is called with each change of the number of waiting requests. */
  constructor(
    readonly socket: Socket,
    private readonly onWaiting: (change: number) => void,
  ) {
    Connection.all.set(socket, this)
    // Node resumes a socket after each request, also after it was paused.
    const resume = socket.resume.bind(socket)
    socket.resume = () => (this.waiting.length > 0 ? socket : resume())
    // Node calls this to end a connection after its last response.
    socket.destroySoon = () => this.end()
    socket.once('close', () => this.dropWaiting())
  }

  /** The connection of a server's socket. */
  static of(socket: Socket): Connection {
    const connection = Connection.all.get(socket)
    if (!connection) throw new Error('Not a connection of this server.')
    return connection
  }

  /** The number of requests that wait for their turn. */
  get waitingCount(): number {
    return this.waiting.length
  }

  /** Calls `answer` when it is the turn of a request; never after the last response of the connection. */
  add(response: ServerResponse, answer: () => void): void {
    if (this.socket.writableEnded || this.socket.destroyed) return
    this.latest = response
    if (this.isFinishing) response.shouldKeepAlive = false
    this.waiting.push({ response, answer })
    this.onWaiting(1)
    if (this.underWay.size === 0) this.answerNext()
    if (this.waiting.length === 0) return
    this.socket.pause()
    this.schedule()
  }

  /** Runs an action once the responses to all received requests have been sent. */
  afterResponses(action: () => void): void {
    if (this.latest === undefined || this.latest.closed) action()
    else this.latest.once('close', action)
  }

  /** Makes the response to the last received request, or to the next one, the last one. */
  finish(): void {
    this.isFinishing = true
    if (this.latest && !this.latest.headersSent) this.latest.shouldKeepAlive = false
  }

  /** Closes the connection if every received request is answered. One that is ending closes on its own. */
  closeIfIdle(): void {
    const isIdle = this.waiting.length === 0 && this.underWay.size === 0
    if (isIdle && !this.socket.writableEnded) this.socket.destroy()
  }

  /** Closes the connection without a response to the waiting requests. */
  drop(): void {
    this.dropWaiting()
    this.socket.destroy()
  }

  /**
   * Ends a connection so that the last bytes written arrive: closing it while data comes in would make the kernel discard
   * what the client has not read yet. A client that keeps sending, or never reads, gets one second.
   */
  end(bytes = ''): void {
    this.isEnding = true
    this.socket.end(bytes)
    this.dropWaiting()
    this.socket.resume()
    const timer = setTimeout(() => this.socket.destroy(), END_MS).unref()
    this.socket.once('close', () => clearTimeout(timer))
  }

  /** Whether the client waits for a response that has not begun: then the silence is not the client's. */
  get isAwaited(): boolean {
    const [oldest] = this.underWay
    return oldest?.req.complete === true && !oldest.headersSent
  }

  /**
   * How long there was no traffic, ms, at a timeout of Node after `intervalMs`. Node reports no timeout when the client has
   * read a part of what was sent, so that twice the interval passes until the next one.
   */
  countSilence(intervalMs: number): number {
    const { bytesRead, bytesWritten, writableLength } = this.socket
    const traffic = [bytesRead, bytesWritten, writableLength].join()
    const time = performance.now()
    const isSilent = traffic === this.silence.traffic && time - this.silence.time < 1.9 * intervalMs
    this.silence = { traffic, time, ms: isSilent ? this.silence.ms + intervalMs : intervalMs }
    return this.silence.ms
  }

  /** Answers a further request in the next turn of the event loop: those of other connections are answered meanwhile. */
  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0 || !this.hasRoom()) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.answerNext()
      if (this.waiting.length === 0) this.socket.resume()
      this.schedule()
    })
  }

  private answerNext(): void {
    const next = this.waiting.shift()
    if (!next) return
    const { response, answer } = next
    this.onWaiting(-1)
    this.underWay.add(response)
    response.once('close', () => {
      this.underWay.delete(response)
      this.schedule()
    })
    // A request with a malformed body has its response already.
    if (!response.writableEnded) answer()
  }

  private hasRoom(): boolean {
    if (this.underWay.size === 0) return true
    if (this.underWay.size >= MAX_UNDER_WAY) return false
    let unsent = 0
    for (const response of this.underWay) unsent += response.writableLength
    return unsent <= MAX_UNSENT_BYTES
  }

  private dropWaiting(): void {
    if (this.waiting.length > 0) this.onWaiting(-this.waiting.splice(0).length)
  }
}

/** How often idle connections are closed while the server finishes, ms. Requests on their way may still arrive meanwhile. */
const FINISH_MS = 50

/** The open connections of a server. */
export class Connections {
  private static readonly all = new WeakMap<Server, Connections>()

  private readonly open = new Set<Connection>()
  /** Requests that wait for their turn, on all connections. */
  private waiting = 0

  /** `onExcess` is called for a connection beyond the limit. */
  constructor(
    private readonly server: Server,
    private readonly limits: Limits,
    private readonly onExcess: (connection: Connection) => void,
  ) {
    Connections.all.set(server, this)
    // Beyond twice the limit they are closed without a response.
    server.maxConnections = 2 * limits.connections
    server.on('connection', (socket: Socket) => this.add(socket))
    // Node takes a connection for idle whose response is still being sent. `close` calls this.
    server.closeIdleConnections = () => {}
  }

  /** The connections of a hardened server. */
  static of(server: Server): Connections {
    const connections = Connections.all.get(server)
    if (!connections) throw new Error('Not a hardened server.')
    return connections
  }

  private add(socket: Socket): void {
    const connection = new Connection(socket, change => this.countWaiting(change))
    this.open.add(connection)
    socket.once('close', () => this.open.delete(connection))
    if (this.open.size > this.limits.connections) this.onExcess(connection)
  }

  /** When too many requests wait, drops the connection with most of them. */
  private countWaiting(change: number): void {
    this.waiting += change
    if (this.waiting <= this.limits.waitingRequests) return
    const [first, ...others] = this.open
    others.reduce((most, other) => (other.waitingCount > most.waitingCount ? other : most), first).drop()
  }

  /** Stops listening, answers what was received, and closes all connections: after `graceMs` whatever they do. */
  async finish(graceMs: number): Promise<void> {
    this.server.close()
    for (const connection of this.open) connection.finish()
    const end = performance.now() + graceMs
    while (this.open.size > 0 && performance.now() < end) {
      await sleep(FINISH_MS)
      // On a busy machine the time is over before the event loop has read what arrived: let it do so first.
      await nextTurn()
      for (const connection of this.open) connection.closeIfIdle()
    }
    for (const { socket } of this.open) socket.destroy()
  }
}
