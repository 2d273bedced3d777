import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Output } from '../../export/output/output.js'
import type { ReadPace } from './read-pace.js'

/** A larger chunk is sent in parts: only whole ones are known to be taken, and the pace is measured by them. */
const PART_BYTES = 64 * 1024

/**
 * The body of a response. Its first bytes send the head, so that a failure before them still gets an error response. A client
 * that reads slowly costs time, never memory.
 */
export class ResponseOutput implements Output {
  bytes = 0
  readonly finished = undefined

  /** `begin` sends the head. `signal` aborts when the client leaves, or reads too slowly. */
  constructor(
    readonly path: string,
    private readonly response: ServerResponse,
    private readonly begin: () => void,
    private readonly pace: ReadPace,
    private readonly signal: AbortSignal,
  ) {
    // The signal says so too.
    response.on('error', () => {})
  }

  async write(chunk: Uint8Array): Promise<void> {
    const { response, pace, signal } = this
    signal.throwIfAborted()
    if (!response.headersSent) this.begin()
    this.bytes += chunk.length
    for (let start = 0; start < chunk.length; start += PART_BYTES) {
      const part = chunk.subarray(start, start + PART_BYTES)
      if (!response.write(part)) await pace.wait(once(response, 'drain', { signal }))
      pace.add(part.length)
    }
  }

  async finish(): Promise<void> {
    const { response, pace, signal } = this
    signal.throwIfAborted()
    if (!response.headersSent) this.begin()
    const finished = once(response, 'finish', { signal })
    response.end()
    await pace.wait(finished)
  }

  /**
   * Cuts the connection of a response that has begun: a client must not take a part for the whole file. A reset, because in
   * HTTP/1.0 the end of the connection is that of the file.
   */
  async discard(): Promise<void> {
    if (this.response.headersSent) this.response.socket?.resetAndDestroy()
  }
}
