import { connect, type Socket } from 'node:net'

/** A response as received, without any decoding. */
export interface RawResponse {
  readonly status: number
  /** Names in lower case; the values of repeated fields are joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Waiter {
  readonly head: boolean
  readonly resolve: (response: RawResponse) => void
  readonly reject: (error: Error) => void
}

/** The chunks of a body that have been read, and where the next one begins. */
interface ChunkedBody {
  offset: number
  readonly chunks: Buffer[]
}

/** An HTTP/1.1 client that sends arbitrary bytes and reads the responses one by one. */
export class RawClient {
  /** Resolves when the server has ended the connection, or it broke. */
  readonly closed: Promise<void>
  /** Received bytes that do not belong to a response yet. */
  rest: Buffer = Buffer.alloc(0)
  /** Where `rest` lies and can grow: the time for a long response grows with its length only. */
  private store = Buffer.alloc(0)
  private body: ChunkedBody = { offset: 0, chunks: [] }
  private hasEnded = false
  private readonly waiters: Waiter[] = []

  private constructor(readonly socket: Socket) {
    socket.on('error', () => {})
    socket.on('data', chunk => {
      this.append(chunk)
      this.resolveWaiters()
    })
    this.closed = new Promise(resolve => {
      const onEnd = () => {
        this.hasEnded = true
        this.resolveWaiters()
        resolve()
      }
      socket.on('end', onEnd).on('close', onEnd)
    })
  }

  /** Opens a connection to `url`; half-open, so that the client can end while responses still arrive. */
  static open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      const host = hostname.replace(/^\[(.*)\]$/, '$1')
      const socket = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new RawClient(socket)))
    })
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** The next response, without interim ones (1xx); `head` for the response to HEAD. Rejects when the connection ends. */
  next({ head = false } = {}): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ head, resolve, reject })
      this.resolveWaiters()
    })
  }

  close(): void {
    this.socket.destroy()
  }

  private append(chunk: Buffer): void {
    const { rest, store } = this
    let start = rest.byteOffset - store.byteOffset
    if (start + rest.length + chunk.length > store.length) {
      this.store = Buffer.alloc(2 * (rest.length + chunk.length))
      rest.copy(this.store)
      start = 0
    }
    chunk.copy(this.store, start + rest.length)
    this.rest = this.store.subarray(start, start + rest.length + chunk.length)
  }

  private resolveWaiters(): void {
    while (this.waiters.length > 0) {
      const [{ head, resolve, reject }] = this.waiters
      const parsed = parseResponse(this.rest, head, this.hasEnded, this.body)
      if (parsed) {
        this.rest = parsed.rest
        this.body = { offset: 0, chunks: [] }
        if (parsed.response.status >= 200) this.waiters.shift()
        if (parsed.response.status >= 200) resolve(parsed.response)
      } else if (this.hasEnded) {
        this.waiters.shift()
        reject(new Error(`The connection ended without a response: ${JSON.stringify(this.rest.toString('latin1'))}`))
      } else return
    }
  }
}

/** Sends bytes over a new connection and returns the first response. */
export async function sendRaw(url: string, bytes: string | Buffer, { head = false } = {}): Promise<RawResponse> {
  const client = await RawClient.open(url)
  try {
    client.send(bytes)
    return await client.next({ head })
  } finally {
    client.close()
  }
}

/** A whole request: `line` such as `GET /`; `headers` are lines, after the Host. */
export function rawRequest(line: string, headers: readonly string[] = [], body: string | Buffer = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)])
}

/** A POST with a body and its length. */
export function rawPost(path: string, body: string | Buffer, type: string | null = 'application/json'): Buffer {
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return rawRequest(`POST ${path}`, type === null ? [length] : [`Content-Type: ${type}`, length], body)
}

/**
 * The first response in `bytes` and the bytes after it; undefined while it is incomplete. `body` keeps what was read of a chunked
 * body, for the next time.
 */
export function parseResponse(
  bytes: Buffer,
  head: boolean,
  hasEnded: boolean,
  body: ChunkedBody = { offset: 0, chunks: [] },
): { response: RawResponse; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [, code] = /^HTTP\/1\.1 (\d{3}) [ -~]*$/.exec(statusLine) ?? []
  if (code === undefined) throw new Error(`No status line: ${JSON.stringify(statusLine)}`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?(.*)$/.exec(line) ?? []
    if (name === undefined) throw new Error(`No header field: ${JSON.stringify(line)}`)
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  const status = Number(code)
  const bodyless = head || status < 200 || status === 204 || status === 304
  const parsed = bodyless
    ? { body: Buffer.alloc(0), used: 0 }
    : readBody(bytes.subarray(end + 4), headers, hasEnded, body)
  return parsed && { response: { status, headers, body: parsed.body }, rest: bytes.subarray(end + 4 + parsed.used) }
}

function readBody(bytes: Buffer, headers: Record<string, string>, hasEnded: boolean, chunked: ChunkedBody) {
  if (headers['transfer-encoding'] === 'chunked') return readChunkedBody(bytes, chunked)
  const length = headers['content-length']
  if (length === undefined) return hasEnded ? { body: bytes, used: bytes.length } : undefined
  const used = Number(length)
  return bytes.length < used ? undefined : { body: bytes.subarray(0, used), used }
}

function readChunkedBody(bytes: Buffer, read: ChunkedBody): { body: Buffer; used: number } | undefined {
  while (true) {
    const end = bytes.indexOf('\r\n', read.offset)
    if (end === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', read.offset, end), 16)
    if (Number.isNaN(size)) throw new Error(`No chunk: ${bytes.toString('latin1', read.offset, end)}`)
    if (bytes.length < end + 2 + size + 2) return undefined
    read.chunks.push(bytes.subarray(end + 2, end + 2 + size))
    read.offset = end + 2 + size + 2
    if (size === 0) return { body: Buffer.concat(read.chunks), used: read.offset }
  }
}
