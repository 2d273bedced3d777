import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Output } from '../../export/output/output.js'

/**
 * The body of a response. Its first bytes send the head, so that a failure before them still gets an error response. A client
 * that reads slowly costs time, never memory.
 */
export class ResponseOutput implements Output {
  bytes = 0
  readonly finished = undefined

  /** `begin` sends the head. `signal` aborts when the client leaves. */
  constructor(
    readonly path: string,
    private readonly response: ServerResponse,
    private readonly begin: () => void,
    private readonly signal: AbortSignal,
  ) {
    // The signal says so too.
    response.on('error', () => {})
  }

  async write(chunk: Uint8Array): Promise<void> {
    const { response, signal } = this
    signal.throwIfAborted()
    if (!response.headersSent) this.begin()
    this.bytes += chunk.length
    if (!response.write(chunk)) await once(response, 'drain', { signal })
  }

  async finish(): Promise<void> {
    const { response, signal } = this
    signal.throwIfAborted()
    if (!response.headersSent) this.begin()
    const finished = once(response, 'finish', { signal })
    response.end()
    await finished
  }

  /**
   * Cuts the connection of a response that has begun: a client must not take a part for the whole file. A reset, because in
   * HTTP/1.0 the end of the connection is that of the file.
   */
  async discard(): Promise<void> {
    if (this.response.headersSent) this.response.socket?.resetAndDestroy()
  }
}
