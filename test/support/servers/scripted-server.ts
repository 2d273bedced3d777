import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from './listen.js'

/** A received request. */
export interface LoggedRequest {
  /** Without the slash at the beginning, with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** 0 until answered, and for one that is never answered. */
  status: number
}

/** The response of a scripted path: a status, headers and a body, or a function that writes it. */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
  | ((request: IncomingMessage, response: ServerResponse) => unknown)

/** A server on a free port with a log of all requests; tests script and delay its responses. */
export abstract class ScriptedServer<Entry extends LoggedRequest = LoggedRequest, Match = string> {
  readonly log: Entry[] = []
  /** The highest number of simultaneous requests. */
  peak = 0
  connections = 0
  /** Awaited before each response; tests delay responses with it. */
  hold: (path: string) => void | Promise<void> = () => {}
  private active = 0
  private readonly scripts = new Map<Match, Answer[]>()
  private readonly standing = new Map<Match, Answer>()
  private readonly server: Server

  protected constructor() {
    this.server = createServer((request, response) => void this.answer(request, response))
    // Only clients end idle connections: on a busy machine, the server would sometimes cut a request that is on its way.
    this.server.keepAliveTimeout = 0
    this.server.on('connection', () => this.connections++)
  }

  /** Number of requests after which it ends a connection; 0 for never. */
  set requestsPerConnection(count: number) {
    this.server.maxRequestsPerSocket = count
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Answers the next requests that match with these responses, one each. */
  script(match: Match, ...answers: Answer[]): void {
    this.scripts.set(match, answers)
  }

  /** Answers every request that matches with this response. */
  always(match: Match, answer: Answer): void {
    this.standing.set(match, answer)
  }

  /** Removes all scripts and empties the log. */
  reset(): void {
    this.scripts.clear()
    this.standing.clear()
    this.hold = () => {}
    this.log.length = 0
    this.peak = 0
  }

  stop(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    return closed
  }

  protected async listen(port: number): Promise<void> {
    await listen(this.server, port)
  }

  /** The log's entry of a request that has just come in. */
  protected abstract enter(entry: LoggedRequest, request: IncomingMessage): Entry
  protected abstract matches(entry: Entry, match: Match): boolean
  /** Sets the headers that scripted responses have too. */
  protected abstract setHeaders(response: ServerResponse, entry: Entry): void
  /** Sends the response of a request that no script answers. */
  protected abstract respond(request: IncomingMessage, response: ServerResponse, entry: Entry): void

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(1)
    const entry = this.enter({ path, headers: request.headers, status: 0 }, request)
    this.log.push(entry)
    this.peak = Math.max(this.peak, ++this.active)
    response.on('close', () => {
      this.active--
      if (response.headersSent) entry.status = response.statusCode
    })
    await this.hold(path)
    if (response.destroyed) return
    this.setHeaders(response, entry)
    const answer = this.findAnswer(entry)
    if (typeof answer === 'function') await answer(request, response)
    else if (answer) response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
    else this.respond(request, response, entry)
  }

  private findAnswer(entry: Entry): Answer | undefined {
    for (const [match, answers] of this.scripts) {
      if (answers.length > 0 && this.matches(entry, match)) return answers.shift()
    }
    for (const [match, answer] of this.standing) if (this.matches(entry, match)) return answer
    return undefined
  }
}
