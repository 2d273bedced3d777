import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listen } from './listen.js'

/** Raw bytes to send, after which the connection stays open; or a function that handles the socket. */
export type RawAnswer = string | Buffer | ((socket: Socket, head: string) => void)

/**
 * A TCP server on a free port that answers each request head with scripted bytes that no HTTP library would send: wrong
 * lengths, truncated bodies, resets, silence.
 */
export class RawServer {
  /** Request heads, in order. */
  readonly heads: string[] = []
  connections = 0
  private readonly sockets = new Set<Socket>()
  private readonly answers: RawAnswer[] = []
  private readonly server: Server

  private constructor(private readonly standing: RawAnswer) {
    this.server = createServer(socket => this.serve(socket))
  }

  /** Sends `answers` one after the other, then always the last one. Stops when the test ends. */
  static async start(...answers: [RawAnswer, ...RawAnswer[]]): Promise<RawServer> {
    const server = await RawServer.listen(...answers)
    onTestFinished(() => server.stop())
    return server
  }

  /** The same for concurrent tests, where vitest has no current test: the caller has to stop it. */
  static listen(...answers: [RawAnswer, ...RawAnswer[]]): Promise<RawServer> {
    return RawServer.listenAt(0, ...answers)
  }

  static async listenAt(port: number, ...answers: [RawAnswer, ...RawAnswer[]]): Promise<RawServer> {
    const server = new RawServer(answers.at(-1) as RawAnswer)
    server.answers.push(...answers.slice(0, -1))
    await listen(server.server, port)
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  stop(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    return closed
  }

  private serve(socket: Socket): void {
    this.connections++
    this.sockets.add(socket)
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('error', () => {})
    let pending = ''
    socket.on('data', chunk => {
      pending += chunk.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end)
        pending = pending.slice(end + 4)
        this.heads.push(head)
        const answer = this.answers.shift() ?? this.standing
        if (typeof answer === 'function') answer(socket, head)
        else socket.write(answer)
      }
    })
  }
}

/** A whole HTTP/1.1 response as bytes; `headers` are lines without line ends. */
export function rawReply(status: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${[status, ...headers].join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}
