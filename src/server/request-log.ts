import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** One request that was answered, or whose client disconnected. */
export interface LoggedRequest {
  readonly method: string
  readonly url: string
  /** Undefined when the client disconnected before the response. */
  readonly status: number | undefined
  /** Bytes of the whole response. */
  readonly bytes: number
  readonly tookMs: number
}

export type RequestLog = (request: LoggedRequest) => void

/** Calls `log` after every request of a server. Requests that Node's parser rejects are not logged. */
export function logRequests(server: Server, log: RequestLog): void {
  server.on('request', ({ method = '', url = '', socket }: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const before = socket.bytesWritten
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : undefined
      log({ method, url, status, bytes: socket.bytesWritten - before, tookMs: performance.now() - started })
    })
  })
}
