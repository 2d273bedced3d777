import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { listen } from './listen.js'

/** A received request with its body. */
export interface GreetingRequest {
  readonly method: string
  /** The request target, with the query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The response instead of the default success: a status, headers and a body, or a function that writes it. */
export type GreetingAnswer =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | ((response: ServerResponse, request: GreetingRequest) => unknown)

/** The words of the token stream. */
export const WORDS = ['Hello', ', ', 'wörld', ' \u{1F30D}', '!']
export const OPENAPI = { openapi: '3.1.0', info: { title: 'Greeting', version: '0.0.88' }, paths: {} }
export const EXPORT_OPENAPI = { openapi: '3.1.0', info: { title: 'Exports', version: '1.0.0' }, paths: {} }
export const KLINES_OPENAPI = { openapi: '3.1.0', info: { title: 'Klines', version: '0.1.8' }, paths: {} }

/**
 * The greeting API on a free port, with a log of all requests. It accepts every update; tests can replace the response.
 */
export class GreetingServer {
  readonly log: GreetingRequest[] = []
  /** Number of open connections. */
  connections = 0
  answer: GreetingAnswer | undefined
  private readonly server: Server

  private constructor() {
    this.server = createServer((request, response) => void this.serve(request, response))
    // Only clients end idle connections: on a busy machine, the server would sometimes cut a request that is on its way.
    this.server.keepAliveTimeout = 0
    this.server.on('connection', socket => {
      this.connections++
      socket.on('close', () => this.connections--)
    })
  }

  /** Starts a server that stops when the test ends. */
  static async start(answer?: GreetingAnswer): Promise<GreetingServer> {
    const server = new GreetingServer()
    server.answer = answer
    await listen(server.server)
    onTestFinished(() => server.stop())
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  stop(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    return closed
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const request = { method, url, headers, body: Buffer.concat(chunks).toString() }
    this.log.push(request)
    const { answer } = this
    if (typeof answer === 'function') await answer(response, request)
    else if (answer) reply(response, answer.status ?? 200, answer.body, answer.headers)
    else defaultAnswer(response, request)
  }
}

function defaultAnswer(response: ServerResponse, { method, url, headers }: GreetingRequest): void {
  const { pathname, searchParams } = new URL(url, 'http://host')
  const [, id] = /^\/api\/users\/([^/]+)$/.exec(pathname) ?? []
  if (method === 'POST' && id !== undefined) {
    reply(response, 200, { success: true, id: decodeURIComponent(id), notify: searchParams.get('notify') ?? 'none' })
  } else if (pathname === '/api/streams/tokens') {
    const type = headers.accept?.includes('application/jsonl') ? 'application/jsonl' : 'text/plain'
    reply(response, 200, tokenLines(WORDS), { 'content-type': `${type}; charset=utf-8` })
  } else if (pathname === '/api/static/openapi.json') reply(response, 200, OPENAPI)
  else if (pathname === '/api/openapi.json') reply(response, 200, KLINES_OPENAPI)
  else if (pathname === '/export/openapi.json') reply(response, 200, EXPORT_OPENAPI)
  else reply(response, 404, { statusCode: 404, message: 'Not found', isError: true })
}

/** Sends a body: text and bytes unchanged, anything else as JSON. */
function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const plain = typeof body === 'string' || body instanceof Uint8Array || body === undefined
  response.writeHead(status, { ...(!plain && { 'content-type': 'application/json' }), ...headers })
  response.end(plain ? body : JSON.stringify(body))
}

/** One JSON line a word. */
export function tokenLines(words: readonly string[]): string {
  return words.map(message => `${JSON.stringify({ message })}\n`).join('')
}
