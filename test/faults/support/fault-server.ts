import { readFileSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { RawServer } from '../../support/servers/raw-server.js'
import { PRESENT, treeRows } from '../../support/synthetic-tree.js'

const KLINES = 'api/v3/klines?'
const DAY = 86_400_000

/** A request, and what a healthy server would respond with. */
export interface FaultRequest {
  readonly socket: Socket
  /** The request target without its leading slash. */
  readonly path: string
  /** Request line and headers. */
  readonly head: string
  /** The file of the healthy tree, or undefined. */
  readonly file: Buffer | undefined
  /** `Last-Modified` and `Date` of that file, as header lines. */
  readonly times: readonly string[]
}

/** Writes a response, or any other bytes, to the socket; resolves when it is done. */
export type FaultResponse = (exchange: FaultRequest) => void | Promise<void>

/** A received request. */
export interface LoggedRequest {
  readonly path: string
  readonly head: string
  /** Milliseconds, `performance.now()`. */
  readonly at: number
}

/**
 * A server of raw sockets over a healthy tree, which sends scripted faults where a test sets them. Records its requests, their
 * times and how many were in flight at once. It speaks the API of the exchange too: a call for a window counts as a request for its file.
 */
export class FaultServer {
  readonly log: LoggedRequest[] = []
  /** The highest number of requests in flight at once. */
  peak = 0
  private active = 0
  private readonly scripts = new Map<string, FaultResponse[]>()
  private readonly permanent = new Map<string, FaultResponse>()
  private fallback: FaultResponse | undefined
  private raw!: RawServer
  private readonly started = performance.now()
  /** How far its clock is ahead of the present of the synthetic tree, ms. */
  shiftMs = 0

  private constructor(readonly root: string) {}

  /** Starts a server; the caller stops it. */
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

  /** The time of its `Date` headers, ms UTC: the tree's present, going on. */
  now(): number {
    return PRESENT + Math.round(performance.now() - this.started) + this.shiftMs
  }

  /** Sends these responses to the next requests for `path` (`api/klines/...`), one each, and then the healthy one. */
  script(path: string, ...responses: FaultResponse[]): void {
    this.scripts.set(path, responses)
  }

  /** Sends this response to every request for `path`. */
  always(path: string, response: FaultResponse): void {
    this.permanent.set(path, response)
  }

  /** Sends this response to every request for a path without a response of its own. */
  everywhere(response: FaultResponse): void {
    this.fallback = response
  }

  /** Removes all faults and clears the log. */
  heal(): void {
    this.scripts.clear()
    this.permanent.clear()
    this.fallback = undefined
    this.shiftMs = 0
    this.log.length = 0
    this.peak = 0
  }

  /** Requests for a path, in order. */
  requestsFor(path: string): LoggedRequest[] {
    return this.log.filter(request => request.path === path)
  }

  /** The paths of requested windows, in order. */
  windowRequests(): string[] {
    return this.log.map(({ path }) => path).filter(path => /\d{4}-\d{2}-\d{2}\.json$/.test(path))
  }

  stop(): Promise<void> {
    return this.raw.stop()
  }

  private async serve(socket: Socket, head: string): Promise<void> {
    const target = head.split(' ')[1].slice(1)
    const path = toTreePath(target)
    this.log.push({ path, head, at: performance.now() })
    this.peak = Math.max(this.peak, ++this.active)
    try {
      const respond = this.scripts.get(path)?.shift() ?? this.permanent.get(path) ?? this.fallback ?? healthy
      await respond({ socket, path, head, ...(path === target ? this.readHealthy(path) : this.asExchange(path)) })
    } finally {
      this.active--
    }
  }

  /** The rows of a window as the exchange sends them: without a Last-Modified. */
  private asExchange(path: string): Pick<FaultRequest, 'file' | 'times'> {
    const { file, times } = this.readHealthy(path)
    return { file, times: times.slice(-1) }
  }

  private readHealthy(path: string): Pick<FaultRequest, 'file' | 'times'> {
    const file = join(this.root, path)
    const stat = path.includes('..') ? undefined : statSync(file, { throwIfNoEntry: false })
    const date = `Date: ${new Date(this.now()).toUTCString()}`
    if (path === 'api/v3/time') return { file: Buffer.from(`{"serverTime":${this.now()}}`), times: [date] }
    if (path.startsWith(KLINES)) return { file: otherRows(path), times: [date] }
    if (!stat?.isFile()) return { file: undefined, times: [date] }
    return { file: readFileSync(file), times: [`Last-Modified: ${stat.mtime.toUTCString()}`, date] }
  }
}

/** The file of the tree that a call of the exchange's API for a whole window stands for; any other target as it is. */
function toTreePath(target: string): string {
  if (!target.startsWith(KLINES)) return target
  const query = new URLSearchParams(target.slice(KLINES.length))
  const startTime = Number(query.get('startTime'))
  if (query.get('limit') === '1' || startTime % DAY !== 0) return target
  const startDate = new Date(startTime).toISOString().slice(0, 10)
  return `api/klines/${query.get('interval')}/${query.get('symbol')}/${startDate}.json`
}

/** The answer to the exchange's call for the first candle of a series, or for what a window has after its last one. */
function otherRows(target: string): Buffer {
  const query = new URLSearchParams(target.slice(KLINES.length))
  const rows = query.get('limit') === '1' ? [...treeRows(query.get('symbol') ?? '').values()].flat().slice(0, 1) : []
  return Buffer.from(JSON.stringify(rows))
}

/** Responds as a static server does: the file, 304 if the client has it, 404 if it is missing. */
export function healthy({ socket, head, file, times }: FaultRequest): void {
  const [since] = /(?<=\r\nif-modified-since: )[^\r]+/i.exec(head) ?? []
  const [modified] = /(?<=Last-Modified: ).+/.exec(times[0]) ?? []
  const send = (status: string, headers: readonly string[], body: Buffer | string = '') =>
    socket.write(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 ${[status, ...times, ...headers].join('\r\n')}\r\n\r\n`),
        Buffer.from(body),
      ]),
    )
  if (!file) send('404 Not Found', ['Content-Length: 9'], 'Not found')
  else if (since !== undefined && since === modified) send('304 Not Modified', [])
  else send('200 OK', ['Content-Type: application/json', `Content-Length: ${file.length}`], file)
}
