import { readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type LoggedRequest, ScriptedServer } from './scripted-server.js'

export type { Answer, LoggedRequest } from './scripted-server.js'

/**
 * A static server over a folder with `api/klines`, on a free port: Last-Modified from the file's mtime, 304 for a matching
 * If-Modified-Since, scripted responses for tests, and a log of all requests. Scripts name a path: `api/klines/...`.
 */
export class TreeServer extends ScriptedServer {
  /** The time in each response's Date, ms; the real time when undefined. */
  date: number | undefined

  private constructor(readonly root: string) {
    super()
  }

  /** Starts a server, on a free port unless one is given, that stops when the test ends. */
  static async start(root: string, port = 0): Promise<TreeServer> {
    const server = await TreeServer.open(root, port)
    onTestFinished(() => server.stop())
    return server
  }

  /** Starts a server for several tests, which stops when it is told to. */
  static async open(root: string, port = 0): Promise<TreeServer> {
    const server = new TreeServer(root)
    await server.listen(port)
    return server
  }

  /** Requested paths in order, or only those of windows. */
  paths(only: 'all' | 'windows' = 'all'): string[] {
    const paths = this.log.map(({ path }) => path)
    return only === 'all' ? paths : paths.filter(path => /\d{4}-\d{2}-\d{2}\.json$/.test(path))
  }

  protected enter(entry: LoggedRequest): LoggedRequest {
    return entry
  }

  protected matches({ path }: LoggedRequest, match: string): boolean {
    return path === match
  }

  protected setHeaders(response: ServerResponse): void {
    if (this.date !== undefined) response.setHeader('date', new Date(this.date).toUTCString())
  }

  protected respond(request: IncomingMessage, response: ServerResponse, { path }: LoggedRequest): void {
    const file = join(this.root, decodeURIComponent(path))
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
