import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { WritableStream } from 'node:stream/web'
import { createGzip } from 'node:zlib'
import { KlinesError } from '../candles/errors.js'
import { escapeControls } from '../candles/text.js'
import type { Exporter, ExporterOptions } from '../formats/exporter.js'

/** Where the bytes of an output go: a file, a stream, or one of them compressed. */
export interface Output {
  /** Number of bytes written. */
  readonly bytes: number
  /** Makes what takes the rows in place of the format's exporter, for an output that shows them in another way. */
  readonly openExporter?: ((options: ExporterOptions) => Exporter) | undefined
  /** Takes the next bytes; resolves when more may come: a slow reader costs time, never memory. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when all bytes are on the disk or with the reader. A file is not visible yet: `commitFiles` does that. */
  finish(): Promise<void>
  /** Leaves everything as it was, as far as possible. Never throws. */
  discard(): Promise<void>
}

/** A stream of the caller, of Node or of the web, to write bytes to. */
export type OutputStream = Writable | WritableStream<Uint8Array>

/** Whether bytes written to a path cannot be taken back: stdout, a FIFO, a device. */
export async function isStream(path: string): Promise<boolean> {
  return path === '-' || (await stat(path).catch(() => undefined))?.isFile() === false
}

/** Whether a stream was closed by its reader. */
const CLOSED = ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']

/**
 * stdout, a FIFO or a stream of the caller: what was written cannot be taken back. It is ended after the last byte, and destroyed when the
 * run fails after the first one, so that its reader does not take a part for the whole; stdout stays open. An abort also ends waiting for a
 * slow reader. Methods throw `output_closed` and `output_unwritable`.
 */
export class StreamOutput implements Output {
  bytes = 0
  /** Rejects when the stream fails or closes early, and when the run is aborted. */
  private readonly ended: Promise<void>

  constructor(
    private readonly stream: Writable,
    private readonly name: string,
    private readonly signal?: AbortSignal,
    private readonly terminal?: InstanceType<typeof TextDecoder>,
  ) {
    const aborted = () => new Promise<void>((_, reject) => signal?.addEventListener('abort', reject, { once: true }))
    const options = { readable: false, cleanup: true, ...(signal && { signal }) }
    this.ended = stream === process.stdout ? aborted() : finished(stream, options)
    // The next call reports it.
    this.ended.catch(() => {})
  }

  /** stdout. A pipe or a file gets the bytes as they are, a terminal text whose control characters are escaped. */
  static toStdout(signal?: AbortSignal): StreamOutput {
    const terminal = process.stdout.isTTY ? new TextDecoder('utf-8', { ignoreBOM: true }) : undefined
    return new StreamOutput(process.stdout, 'stdout', signal, terminal)
  }

  /** stdout for `-`, or something that is there and no file. */
  static to(path: string, signal?: AbortSignal): StreamOutput {
    return path === '-' ? StreamOutput.toStdout(signal) : new StreamOutput(createWriteStream(path), path, signal)
  }

  static toGiven(stream: OutputStream, signal?: AbortSignal): StreamOutput {
    return new StreamOutput('getWriter' in stream ? Writable.fromWeb(stream) : stream, 'the output stream', signal)
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length
    await this.send(this.terminal ? escapeControls(this.terminal.decode(chunk, { stream: true })) : chunk)
  }

  async finish(): Promise<void> {
    this.signal?.throwIfAborted()
    // What was written before is with the reader then.
    if (this.stream === process.stdout) return this.send(escapeControls(this.terminal?.decode() ?? ''))
    this.stream.end()
    await this.until(this.ended)
  }

  async discard(): Promise<void> {
    if (this.stream !== process.stdout) this.stream.destroy()
  }

  private send(data: Uint8Array | string): Promise<void> {
    const sent = new Promise<void>((resolve, reject) => {
      this.stream.write(data, error => (error ? reject(error) : resolve()))
    })
    return this.until(Promise.race([sent, this.ended]))
  }

  private async until(wait: Promise<unknown>): Promise<void> {
    try {
      await wait
    } catch (cause) {
      this.signal?.throwIfAborted()
      const { code = '', message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: `${cause}` }
      const isClosed = CLOSED.includes(code)
      const text = isClosed
        ? `The reader of ${this.name} left before the end.`
        : `Cannot write to ${this.name}: ${message}.`
      throw new KlinesError(isClosed ? 'output_closed' : 'output_unwritable', text, { cause })
    }
  }
}

/** Compresses what goes to another output, as one gzip member without time or name: the same input gives the same bytes. */
export class GzipOutput implements Output {
  private readonly gzip = createGzip()
  /** Rejects when the other output fails. */
  private readonly passedOn: Promise<void>

  constructor(private readonly output: Output) {
    this.passedOn = pipeline(this.gzip, async chunks => {
      for await (const chunk of chunks) await output.write(chunk)
    })
    // `write` and `finish` report it.
    this.passedOn.catch(() => {})
  }

  get bytes(): number {
    return this.output.bytes
  }

  async write(chunk: Uint8Array): Promise<void> {
    await Promise.race([new Promise<void>(resolve => this.gzip.write(chunk, () => resolve())), this.passedOn])
  }

  async finish(): Promise<void> {
    this.gzip.end()
    await this.passedOn
    await this.output.finish()
  }

  async discard(): Promise<void> {
    this.gzip.destroy()
    await this.output.discard()
  }
}
