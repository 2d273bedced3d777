import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type ServerOptions, type Serving, startServer } from '../../../src/server/server.js'
import { indexTree } from '../index-tree.js'
import { makeTree, NOW, RENDERED } from '../synthetic-tree.js'

/** A response as received; its body is not decoded. */
export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Options of a request besides its path. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly agent?: Agent
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** Requests a path of the tree (`api/klines/...`), or any target that begins with a slash, unchanged. */
export type SendRequest = (path: string, options?: RequestOptions) => Promise<TestResponse>

/** A running server with a client. */
export interface TestServer extends Serving {
  readonly request: SendRequest
}

/** Sends a request to a server; no URL parser changes the target. */
export function requestFrom(
  base: string,
  path: string,
  { method = 'GET', ...options }: RequestOptions = {},
): Promise<TestResponse> {
  const { hostname, port } = new URL(base)
  const target = path.startsWith('/') ? path : `/${path}`
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path: target, method, ...options }, response => {
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

/** Starts a server over a folder at the time `NOW`; the caller has to close it. */
export async function openTestServer(root: string, options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const { close, ...server } = await startServer({ root, now: () => NOW, ...options })
  const { url } = server
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return {
    ...server,
    request: (path, options) => requestFrom(url, path, { agent, ...options }),
    close: () => {
      agent.destroy()
      return close()
    },
  }
}

/** Starts a server that closes when the test ends. */
export async function startTestServer(root: string, options?: Partial<ServerOptions>): Promise<TestServer> {
  const server = await openTestServer(root, options)
  onTestFinished(() => server.close())
  return server
}

/** One server for all tests of a group. */
export interface SharedServer {
  readonly request: SendRequest
  readonly url: () => string
  readonly root: () => string
}

/** Starts one server over a folder for all tests of a group. */
export function useServerOver(root: () => string, options?: Partial<ServerOptions>): SharedServer {
  let server: TestServer
  beforeAll(async () => {
    server = await openTestServer(root(), options)
  })
  afterAll(() => server.close())
  return { request: (path, how) => server.request(path, how), url: () => server.url, root }
}

/** Starts one server over a mirror of the synthetic tree, in a temporary folder, for all tests of a group. */
export function useTestServer(): SharedServer {
  const root = mkdtempSync(join(tmpdir(), 'klines-server-'))
  // Runs last: vitest runs afterAll hooks in reverse order.
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  return { ...useServerOver(() => indexTree(makeTree(root), { rendered: RENDERED })), root: () => root }
}

/** Header fields of the connection, not of the response's content. */
const CONNECTION_FIELDS = ['date', 'connection', 'keep-alive', 'transfer-encoding']

/** The header fields that two responses with the same content share. */
export function stableHeaders({ headers }: TestResponse): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_FIELDS.includes(name)))
}

/** Parses the service's error object. */
export function parseErrorObject({ headers, body }: TestResponse): {
  statusCode: number
  message: string
  isError: true
} {
  if (!headers['content-type']?.startsWith('application/json')) throw new Error(`Not JSON: ${body}`)
  return JSON.parse(String(body))
}
