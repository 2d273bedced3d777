import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type RunningServer, type ServerOptions, startServer } from '../../../src/server/server.js'
import { makeTree, NOW } from '../synthetic-tree.js'

/** An answer as it came over the wire: nothing is decoded. */
export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What is said beside the path. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly agent?: Agent
  /** Ends the request from this side. */
  readonly signal?: AbortSignal
}

/** Asks for a path of the tree (`api/klines/...`) or for any other target that begins with a slash, as it is. */
export type SendRequest = (path: string, asked?: RequestOptions) => Promise<TestResponse>

/** A server that runs, and a client of it. */
export interface TestServer extends RunningServer {
  readonly request: SendRequest
}

/** One request over HTTP, the target untouched by any URL parser. */
export function requestFrom(
  base: string,
  path: string,
  { method = 'GET', ...asked }: RequestOptions = {},
): Promise<TestResponse> {
  const { hostname, port } = new URL(base)
  const target = path.startsWith('/') ? path : `/${path}`
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path: target, method, ...asked }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    outgoing.on('error', reject).end()
  })
}

/** Starts a server over a folder, whose clock says `NOW`; it has to be closed. */
export async function openTestServer(root: string, options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const { url, close } = await startServer({ root, now: () => NOW, ...options })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return {
    url,
    request: (path, asked) => requestFrom(url, path, { agent, ...asked }),
    close: () => {
      agent.destroy()
      return close()
    },
  }
}

/** A server for one test, closed when that is over. */
export async function startTestServer(root: string, options?: Partial<ServerOptions>): Promise<TestServer> {
  const served = await openTestServer(root, options)
  onTestFinished(() => served.close())
  return served
}

/** One server over the made tree for all tests of a group, and the tree's folder. */
export function useTestServer(): { readonly request: SendRequest; readonly root: () => string } {
  const root = mkdtempSync(join(tmpdir(), 'klines-served-'))
  let served: TestServer
  beforeAll(async () => {
    served = await openTestServer(makeTree(root))
  })
  afterAll(async () => {
    await served.close()
    rmSync(root, { recursive: true, force: true })
  })
  return { request: (path, asked) => served.request(path, asked), root: () => root }
}

/** Header fields that say when and how an answer came, not what it is. */
const CONNECTION_FIELDS = ['date', 'connection', 'keep-alive', 'transfer-encoding']

/** The header fields that say what an answer is. */
export function stableHeaders({ headers }: TestResponse): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_FIELDS.includes(name)))
}

/** The error object of service.md: these three fields, `cause` at most beside them. */
export function parseErrorObject({ headers, body }: TestResponse): {
  statusCode: number
  message: string
  isError: true
} {
  if (!headers['content-type']?.startsWith('application/json')) throw new Error(`Not JSON: ${body}`)
  return JSON.parse(String(body))
}
