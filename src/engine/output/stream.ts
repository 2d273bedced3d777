import { once } from 'node:events'
import { constants, open } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { KlinesError } from '../../candles/errors.js'
import { escapeControls } from '../../candles/text.js'
import type { Output } from './output.js'

/**
 * Bytes of a text format for a terminal, chunk by chunk: what it could interpret is escaped, as in all that the commands print. Cells
 * hold whatever the source of the candles wrote. JSON stays the same JSON.
 */
export class TerminalText {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  /** The text of the next bytes, up to the last whole character. */
  next(chunk: Uint8Array): string {
    return escapeControls(this.decoder.decode(chunk, { stream: true }))
  }

  /** What is left after the last bytes. */
  end(): string {
    return escapeControls(this.decoder.decode())
  }
}

const openDescriptor = promisify(open)

/** Time between two tries to open a FIFO that has no reader yet, ms. */
const FIFO_POLL_MS = 50

/** stdout or a FIFO: what was written cannot be taken back. An abort also ends waiting for a slow reader. */
export class StreamOutput implements Output {
  bytes = 0
  readonly finished = undefined
  /** Why a FIFO takes no more; stdout reports its own failures. */
  private failure: Error | undefined

  private constructor(
    readonly path: string,
    private readonly stream: NodeJS.WritableStream,
    private readonly signal: AbortSignal | undefined,
    private readonly terminal?: TerminalText,
  ) {}

  /** stdout. A pipe or a file gets the bytes as they are, a terminal text without control characters. */
  static toStdout(signal?: AbortSignal): StreamOutput {
    const terminal = process.stdout.isTTY ? new TerminalText() : undefined
    return new StreamOutput('stdout', process.stdout, signal, terminal)
  }

  /**
   * Waits for a reader as a plain open would, but without blocking a thread of the pool, which would keep the process from
   * ending.
   */
  static async toFifo(path: string, signal?: AbortSignal): Promise<StreamOutput> {
    for (;;) {
      // A number, not a file handle: the socket alone owns and closes it.
      const fd = await openDescriptor(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(withoutReader)
      if (fd !== undefined) {
        const stream = new Socket({ fd, readable: false, writable: true })
        const output = new StreamOutput(path, stream, signal)
        // The next write reports it: a socket that has failed never drains.
        stream.on('error', error => {
          output.failure = error
        })
        return output
      }
      await sleep(FIFO_POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted())
    }
  }

  /** Resolves when the reader has taken enough: a slow reader costs time, never memory. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.failure) throw this.toError(this.failure)
    this.bytes += chunk.length
    if (this.stream.write(this.terminal ? this.terminal.next(chunk) : chunk)) return
    await this.waitFor(once(this.stream, 'drain', { signal: this.signal }))
  }

  /** Resolves when the last byte is with the operating system. */
  async finish(): Promise<void> {
    if (this.failure) throw this.toError(this.failure)
    const { signal } = this
    signal?.throwIfAborted()
    const written = new Promise<void>((resolve, reject) => {
      this.stream.write(this.terminal?.end() ?? '', error => (error ? reject(error) : resolve()))
    })
    const aborted = signal && once(signal, 'abort').then(() => signal.throwIfAborted())
    await this.waitFor(aborted ? Promise.race([written, aborted]) : written)
    if (this.stream !== process.stdout) this.stream.end()
  }

  async discard(): Promise<void> {
    if (this.stream !== process.stdout) this.stream.end()
  }

  private async waitFor(wait: Promise<unknown>): Promise<void> {
    try {
      await wait
    } catch (cause) {
      this.signal?.throwIfAborted()
      throw this.toError(this.failure ?? cause)
    }
  }

  private toError(cause: unknown): KlinesError {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code !== 'EPIPE')
      return new KlinesError('output_unwritable', `Cannot write to ${this.path}: ${message}.`, { cause })
    return new KlinesError('output_closed', `The reader of ${this.path} left before the end.`, { cause })
  }
}

function withoutReader(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENXIO') return undefined
  throw error
}
