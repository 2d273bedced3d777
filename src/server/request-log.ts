import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** One request that was answered, or that its client left. */
export interface LoggedRequest {
  readonly method: string
  readonly url: string
  /** Undefined when the client left before. */
  readonly status: number | undefined
  /** Bytes of the whole answer. */
  readonly bytes: number
  readonly tookMs: number
}

export type RequestLog = (request: LoggedRequest) => void

/** Tells `log` of every request a server has dealt with. What Node's parser refuses is none. */
export function logRequests(server: Server, log: RequestLog): void {
  server.on('request', ({ method = '', url = '', socket }: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const before = socket.bytesWritten
    response.once('close', () => {
      log({
        method,
        url,
        status: response.headersSent ? response.statusCode : undefined,
        bytes: socket.bytesWritten - before,
        tookMs: performance.now() - started,
      })
    })
  })
}
