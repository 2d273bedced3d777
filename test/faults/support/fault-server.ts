import { readFileSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { RawServer } from '../../support/servers/raw-server.js'

/** One request that wants an answer, and what a sound server would send. */
export interface FaultRequest {
  readonly socket: Socket
  /** As asked for, without its slash. */
  readonly path: string
  /** Request line and headers. */
  readonly head: string
  /** The file of the healthy tree, undefined when there is none. */
  readonly file: Buffer | undefined
  /** `Last-Modified` and `Date` of that file, as header lines. */
  readonly times: readonly string[]
}

/** Writes an answer, or whatever it likes, to the socket. It is over when this resolves. */
export type FaultResponse = (exchange: FaultRequest) => void | Promise<void>

/** One request as it came. */
export interface LoggedRequest {
  readonly path: string
  readonly head: string
  /** Milliseconds, `performance.now()`. */
  readonly at: number
}

/**
 * A server of raw sockets over a healthy tree: sound answers by itself, and scripted faults where a test wants them. Records
 * what it was asked, when, and how much of it at the same time.
 */
export class FaultServer {
  readonly log: LoggedRequest[] = []
  /** Most requests that were under way at the same time. */
  peak = 0
  private active = 0
  private readonly scripts = new Map<string, FaultResponse[]>()
  private readonly standing = new Map<string, FaultResponse>()
  private forAll: FaultResponse | undefined
  private raw!: RawServer

  private constructor(readonly root: string) {}

  /** A server that is listening; it has to be stopped. */
  static async listen(root: string): Promise<FaultServer> {
    const server = new FaultServer(root)
    server.raw = await RawServer.listen((socket, head) => void server.serve(socket, head))
    return server
  }

  get url(): string {
    return this.raw.url
  }

  get port(): number {
    return this.raw.port
  }

  /** Answers the next requests for `path` (`api/klines/...`) with these, one each; then as ever. */
  script(path: string, ...answers: FaultResponse[]): void {
    this.scripts.set(path, answers)
  }

  /** Answers every request for `path` with this. */
  always(path: string, answer: FaultResponse): void {
    this.standing.set(path, answer)
  }

  /** Answers every request that has no answer of its own with this. */
  everywhere(answer: FaultResponse): void {
    this.forAll = answer
  }

  /** Back to the healthy tree, with an empty log. */
  heal(): void {
    this.scripts.clear()
    this.standing.clear()
    this.forAll = undefined
    this.log.length = 0
    this.peak = 0
  }

  /** Requests for a path, in order. */
  requestsFor(path: string): LoggedRequest[] {
    return this.log.filter(one => one.path === path)
  }

  /** Paths of windows asked for, in order. */
  windowRequests(): string[] {
    return this.log.map(({ path }) => path).filter(path => /\d{4}-\d{2}-\d{2}\.json$/.test(path))
  }

  stop(): Promise<void> {
    return this.raw.stop()
  }

  /** Listens again, at the port it had. */
  async listenAt(port: number): Promise<void> {
    this.raw = await RawServer.listenAt(port, (socket, head) => void this.serve(socket, head))
  }

  private async serve(socket: Socket, head: string): Promise<void> {
    const path = head.split(' ')[1].slice(1)
    this.log.push({ path, head, at: performance.now() })
    this.peak = Math.max(this.peak, ++this.active)
    try {
      const answer = this.scripts.get(path)?.shift() ?? this.standing.get(path) ?? this.forAll ?? healthy
      await answer({ socket, path, head, ...this.fileAt(path) })
    } finally {
      this.active--
    }
  }

  private fileAt(path: string): Pick<FaultRequest, 'file' | 'times'> {
    const file = join(this.root, path)
    const stat = path.includes('..') ? undefined : statSync(file, { throwIfNoEntry: false })
    const date = `Date: ${new Date().toUTCString()}`
    if (!stat?.isFile()) return { file: undefined, times: [date] }
    return { file: readFileSync(file), times: [`Last-Modified: ${stat.mtime.toUTCString()}`, date] }
  }
}

/** What a sound static server answers: the file, 304 when it is known, 404 when there is none. */
export function healthy({ socket, head, file, times }: FaultRequest): void {
  const [since] = /(?<=\r\nif-modified-since: )[^\r]+/i.exec(head) ?? []
  const [modified] = /(?<=Last-Modified: ).+/.exec(times[0]) ?? []
  const answer = (status: string, headers: readonly string[], body: Buffer | string = '') =>
    socket.write(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 ${[status, ...times, ...headers].join('\r\n')}\r\n\r\n`),
        Buffer.from(body),
      ]),
    )
  if (!file) answer('404 Not Found', ['Content-Length: 9'], 'Not found')
  else if (since !== undefined && since === modified) answer('304 Not Modified', [])
  else answer('200 OK', ['Content-Type: application/json', `Content-Length: ${file.length}`], file)
}
