import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { KlinesError } from '../candles/errors.js'
import { escapeControls } from '../candles/text.js'
import type { Exporter, ExporterOptions } from '../formats/exporter.js'

export interface Output {
  readonly bytes: number
  /** In place of the format's exporter, for an output that shows rows in another way. */
  readonly openExporter?: ((options: ExporterOptions) => Exporter) | undefined
  /** Resolves when more may come: a slow reader costs time, never memory. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when all bytes are on the disk, where the file is not in its place yet, or with the reader. */
  finish(): Promise<void>
  /** Never throws. */
  discard(): Promise<void>
}

/** Whether bytes written to a path cannot be taken back: stdout, a FIFO, a device. */
export async function isStream(path: string): Promise<boolean> {
  return path === '-' || (await stat(path).catch(() => undefined))?.isFile() === false
}

const CLOSED = ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']

/**
 * A stream, which is ended after the last byte, and destroyed when the run fails, so that its reader does not take a part for the whole;
 * stdout stays open. An abort also ends waiting for a slow reader. Throws `output_closed` and `output_unwritable`.
 */
export class StreamOutput implements Output {
  bytes = 0
  /** Rejects when the stream fails or closes early, and at an abort. */
  private readonly ended: Promise<void>

  constructor(
    private readonly stream: Writable,
    private readonly name: string,
    private readonly signal?: AbortSignal,
  ) {
    const aborted = () => new Promise<void>((_, reject) => signal?.addEventListener('abort', reject, { once: true }))
    const options = { readable: false, cleanup: true, ...(signal && { signal }) }
    this.ended = stream === process.stdout ? aborted() : finished(stream, options)
    // The next call reports it.
    this.ended.catch(() => {})
  }

  /** stdout for `-`, something that is there and no file, or a stream of the caller. */
  static to(target: string | Writable, signal?: AbortSignal): StreamOutput {
    if (target === '-') return new StreamOutput(process.stdout, 'stdout', signal)
    if (typeof target === 'string') return new StreamOutput(createWriteStream(target), target, signal)
    return new StreamOutput(target, 'the output stream', signal)
  }

  /** Throws `output_closed` for a stream that takes no bytes. */
  checkOpen(): void {
    if (this.stream.writable) return
    const message = `Cannot write to ${this.name}: it has ended, or was destroyed.`
    throw new KlinesError('output_closed', message, { suggestions: ['Each export needs a stream of its own.'] })
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length
    // A cell of a candle may have what a terminal would obey.
    const isTerminal = this.stream === process.stdout && process.stdout.isTTY
    await this.send(isTerminal ? escapeControls(Buffer.from(chunk).toString()) : chunk)
  }

  async finish(): Promise<void> {
    this.signal?.throwIfAborted()
    // What was written before is with the reader then.
    if (this.stream === process.stdout) return this.send('')
    this.stream.end()
    await this.until(this.ended)
  }

  async discard(): Promise<void> {
    if (this.stream !== process.stdout) this.stream.destroy()
  }

  private async send(data: Uint8Array | string): Promise<void> {
    if (this.stream !== process.stdout && !this.stream.writable) {
      await this.until(this.ended)
      this.checkOpen()
    }
    const sent = new Promise<void>((resolve, reject) => {
      this.stream.write(data, error => (error ? reject(error) : resolve()))
    })
    await this.until(Promise.race([sent, this.ended]))
  }

  private async until(wait: Promise<unknown>): Promise<void> {
    try {
      await wait
    } catch (cause) {
      this.signal?.throwIfAborted()
      const { code = '', message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: `${cause}` }
      if (CLOSED.includes(code))
        throw new KlinesError('output_closed', `The reader of ${this.name} left before the end.`, { cause })
      throw new KlinesError('output_unwritable', `Cannot write to ${this.name}: ${message}.`, { cause })
    }
  }
}

/** Compresses what goes to an output, as one gzip member without time or name: the same input gives the same bytes. */
export function compressed(output: Output): Output {
  const gzip = createGzip()
  const passedOn = pipeline(gzip, async chunks => {
    for await (const chunk of chunks) await output.write(chunk)
  })
  // `write` and `finish` report it.
  passedOn.catch(() => {})
  return {
    get bytes() {
      return output.bytes
    },
    async write(chunk) {
      await Promise.race([new Promise<void>(resolve => gzip.write(chunk, () => resolve())), passedOn])
    },
    async finish() {
      gzip.end()
      await passedOn
      await output.finish()
    },
    async discard() {
      gzip.destroy()
      await output.discard()
    },
  }
}
