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

/** What a stream says that its reader closed. */
const CLOSED = ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']

/**
 * A stream, which is ended after the last byte, and destroyed when the run fails after the first one, so that its reader does not take a
 * part for the whole; stdout stays open. An abort also ends waiting for a slow reader. Throws `output_closed` and `output_unwritable`.
 */
export class StreamOutput implements Output {
  bytes = 0
  /** Rejects when the stream fails or closes early, and when the run is aborted. */
  private readonly ended: Promise<void>
  /** At a terminal, control characters are escaped. */
  private readonly terminal: InstanceType<typeof TextDecoder> | undefined

  constructor(
    private readonly stream: Writable,
    private readonly name: string,
    private readonly signal?: AbortSignal,
  ) {
    const isStdout = stream === process.stdout
    if (isStdout && process.stdout.isTTY) this.terminal = new TextDecoder('utf-8', { ignoreBOM: true })
    const aborted = () => new Promise<void>((_, reject) => signal?.addEventListener('abort', reject, { once: true }))
    const options = { readable: false, cleanup: true, ...(signal && { signal }) }
    this.ended = isStdout ? aborted() : finished(stream, options)
    // The next call reports it.
    this.ended.catch(() => {})
  }

  /** stdout for `-`, something that is there and no file, or a stream of the caller. */
  static to(target: string | OutputStream, signal?: AbortSignal): StreamOutput {
    if (target === '-') return new StreamOutput(process.stdout, 'stdout', signal)
    if (typeof target === 'string') return new StreamOutput(createWriteStream(target), target, signal)
    const stream = 'getWriter' in target ? Writable.fromWeb(target) : target
    return new StreamOutput(stream, 'the output stream', signal)
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
      if (CLOSED.includes(code))
        throw new KlinesError('output_closed', `The reader of ${this.name} left before the end.`, { cause })
      throw new KlinesError('output_unwritable', `Cannot write to ${this.name}: ${message}.`, { cause })
    }
  }
}

/** Compresses what goes to another output, as one gzip member without time or name: the same input gives the same bytes. */
export class GzipOutput implements Output {
  private readonly gzip = createGzip()
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
