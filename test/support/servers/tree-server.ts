import { readFileSync, statSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A received request. */
export interface LoggedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** 0 until answered, and for one that is never answered. */
  status: number
}

/** The response of a scripted path: a status, headers and a body, or a function that writes it. */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
  | ((request: IncomingMessage, response: ServerResponse) => unknown)

/**
 * A static server over a folder with `api/klines`, on a free port: Last-Modified from the file's mtime, 304 for a matching
 * If-Modified-Since, scripted responses for tests, and a log of all requests.
 */
export class TreeServer {
  readonly log: LoggedRequest[] = []
  /** The highest number of simultaneous requests. */
  peak = 0
  connections = 0
  /** The time in each response's Date, ms; the real time when undefined. */
  date: number | undefined
  /** Awaited before each response; tests delay responses with it. */
  hold: (path: string) => void | Promise<void> = () => {}
  private active = 0
  private readonly scripts = new Map<string, Answer[]>()
  private readonly standing = new Map<string, Answer>()
  private readonly server: Server

  private constructor(readonly root: string) {
    this.server = createServer((request, response) => void this.answer(request, response))
    this.server.on('connection', () => this.connections++)
  }

  /** Starts a server, on a free port unless one is given, that stops when the test ends. */
  static async start(root: string, port = 0): Promise<TreeServer> {
    const server = new TreeServer(root)
    await new Promise<void>(resolve => server.server.listen(port, '127.0.0.1', resolve))
    onTestFinished(() => server.stop())
    return server
  }

  /** Number of requests after which it ends a connection; 0 for never. */
  set requestsPerConnection(count: number) {
    this.server.maxRequestsPerSocket = count
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Answers the next requests for `path` (`api/klines/...`) with these responses, one each. */
  script(path: string, ...answers: Answer[]): void {
    this.scripts.set(path, answers)
  }

  /** Answers every request for `path` with this response. */
  always(path: string, answer: Answer): void {
    this.standing.set(path, answer)
  }

  /** Removes all scripts and empties the log. */
  reset(): void {
    this.scripts.clear()
    this.standing.clear()
    this.hold = () => {}
    this.log.length = 0
    this.peak = 0
  }

  /** Requested paths in order, or only those of windows. */
  paths(only: 'all' | 'windows' = 'all'): string[] {
    const paths = this.log.map(({ path }) => path)
    return only === 'all' ? paths : paths.filter(path => /\d{4}-\d{2}-\d{2}\.json$/.test(path))
  }

  stop(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    return closed
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(1)
    const entry: LoggedRequest = { path, headers: request.headers, status: 0 }
    this.log.push(entry)
    this.peak = Math.max(this.peak, ++this.active)
    response.on('close', () => {
      this.active--
      if (response.headersSent) entry.status = response.statusCode
    })
    await this.hold(path)
    if (response.destroyed) return
    if (this.date !== undefined) response.setHeader('date', new Date(this.date).toUTCString())
    const answer = this.scripts.get(path)?.shift() ?? this.standing.get(path)
    if (typeof answer === 'function') await answer(request, response)
    else if (answer) response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
    else this.sendFile(path, request, response)
  }

  private sendFile(path: string, request: IncomingMessage, response: ServerResponse): void {
    const file = join(this.root, path)
    const stat = path.includes('..') ? undefined : statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<!DOCTYPE html><p>Not found</p>')
      return
    }
    const modified = Math.floor(stat.mtimeMs / 1000) * 1000
    const headers = { 'last-modified': new Date(modified).toUTCString(), 'content-type': 'application/json' }
    const since = Date.parse(request.headers['if-modified-since'] ?? '')
    if (modified <= since) response.writeHead(304, headers).end()
    else response.writeHead(200, headers).end(readFileSync(file))
  }
}
