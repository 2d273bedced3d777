import { once } from 'node:events'
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { WritableStream } from 'node:stream/web'
import { KlinesError } from '../../candles/errors.js'
import type { Output } from './output.js'

/** A stream of the caller, of Node or of the web, to write bytes to. */
export type OutputStream = Writable | WritableStream<Uint8Array>

/** A stream of the caller. It is ended after the last byte, and destroyed when the run fails after the first one. */
export class GivenStream implements Output {
  readonly path = '-'
  bytes = 0
  readonly finished = undefined
  private readonly stream: Writable
  /** Rejects when the stream fails or closes early, and when the run is aborted. */
  private readonly ended: Promise<void>

  constructor(
    stream: OutputStream,
    private readonly signal: AbortSignal | undefined,
  ) {
    // A response of node:http is no instance of `Writable`.
    this.stream = 'getWriter' in stream ? Writable.fromWeb(stream) : stream
    this.ended = finished(this.stream, { readable: false, cleanup: true, ...(signal && { signal }) })
    // The next call reports it.
    this.ended.catch(() => {})
  }

  /** Resolves when the stream wants more: a slow reader costs time, never memory. */
  async write(chunk: Uint8Array): Promise<void> {
    const { stream } = this
    if (!stream.writable) await this.orFail(this.ended)
    this.bytes += chunk.length
    if (!stream.write(chunk)) await this.orFail(Promise.race([once(stream, 'drain'), this.ended]))
  }

  async finish(): Promise<void> {
    this.stream.end()
    await this.orFail(this.ended)
  }

  /** Its reader does not take what came so far for all of it. */
  async discard(): Promise<void> {
    this.stream.destroy()
  }

  private async orFail(wait: Promise<unknown>): Promise<void> {
    try {
      await wait
    } catch (cause) {
      this.signal?.throwIfAborted()
      const { code, message } =
        cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: '', message: `${cause}` }
      if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE') {
        throw new KlinesError('output_closed', 'The output stream was closed before the end.', { cause })
      }
      throw new KlinesError('output_unwritable', `Cannot write to the output stream: ${message}.`, { cause })
    }
  }
}
