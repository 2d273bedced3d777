import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

  constructor(readonly socket: Socket) {
    Connection.all.set(socket, this)
    // Node resumes a socket after each request, also one that was paused here. To pause it again at its `resume` event would be too
    // late: the next packet may have been read by then.
    const resume = socket.resume.bind(socket)
    socket.resume = () => (this.waiting.length > 0 ? socket : resume())
    // Node calls this to end a connection after its last response.
    socket.destroySoon = () => this.end()
    socket.once('close', () => {
      this.waiting.length = 0
    })
  }

  /** The connection of a server's socket. */
  static of(socket: Socket): Connection {
    const connection = Connection.all.get(socket)
    if (!connection) throw new Error('Not a connection of this server.')
    return connection
  }

  /** Calls `answer` when it is the turn of a request; never after the last response of the connection. */
  add(response: ServerResponse, answer: () => void): void {
    if (this.socket.writableEnded || this.socket.destroyed) return
    this.latest = response
    if (this.isFinishing) response.shouldKeepAlive = false
    this.waiting.push({ response, answer })
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

  /**
   * Ends a connection so that the last bytes written arrive: closing it while data comes in would make the kernel discard
   * what the client has not read yet. A client that keeps sending, or never reads, gets one second.
   */
  end(bytes = ''): void {
    this.isEnding = true
    this.socket.end(bytes)
    this.waiting.length = 0
    this.socket.resume()
    const timer = setTimeout(() => this.socket.destroy(), END_MS).unref()
    this.socket.once('close', () => clearTimeout(timer))
  }

  /** Whether the client waits for a response that has not begun: then the silence is not the client's. */
  get isAwaited(): boolean {
    const [oldest] = this.underWay
    return oldest?.req.complete === true && !oldest.headersSent
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
}
