import { once } from 'node:events'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { KlinesError } from '../../klines/errors.js'

/** How often a FIFO is tried that nobody reads yet, ms. */
const FIFO_POLL_MS = 50

/** An output that cannot be taken back: stdout, or a FIFO. An abort is heard also while a reader keeps it waiting. */
export class StreamOutput {
  bytes = 0

  private constructor(
    readonly path: string,
    private readonly stream: NodeJS.WritableStream,
    private readonly signal: AbortSignal | undefined,
  ) {}

  static toStdout(signal?: AbortSignal): StreamOutput {
    return new StreamOutput('stdout', process.stdout, signal)
  }

  /**
   * Waits for a reader as a plain open would, but not in a thread of the pool: a blocked one would keep the process from
   * ending for good.
   */
  static async toFifo(path: string, signal?: AbortSignal): Promise<StreamOutput> {
    for (;;) {
      const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(nobodyReads)
      if (file) {
        const stream = new Socket({ fd: file.fd, readable: false, writable: true })
        // Each write tells of its own failure.
        stream.on('error', () => {}).on('close', () => file.close().catch(() => {}))
        return new StreamOutput(path, stream, signal)
      }
      await sleep(FIFO_POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted())
    }
  }

  /** Resolves when the reader has taken enough for more: a slow one costs time, never memory. */
  async write(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length
    if (this.stream.write(chunk)) return
    await this.settled(once(this.stream, 'drain', { signal: this.signal }))
  }

  /** Resolves when the last byte is with the operating system. */
  async finish(): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.stream.write('', error => (error ? reject(error) : resolve()))
    })
    const { signal } = this
    const aborted = signal && once(signal, 'abort').then(() => signal.throwIfAborted())
    await this.settled(aborted ? Promise.race([written, aborted]) : written)
    if (this.stream !== process.stdout) this.stream.end()
  }

  async commit(): Promise<void> {}

  async discard(): Promise<void> {
    if (this.stream !== process.stdout) this.stream.end()
  }

  private async settled(wait: Promise<unknown>): Promise<void> {
    try {
      await wait
    } catch (cause) {
      this.signal?.throwIfAborted()
      throw new KlinesError('output_unwritable', `Cannot write to ${this.path}: ${(cause as Error).message}.`, {
        cause,
      })
    }
  }
}

function nobodyReads(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENXIO') return undefined
  throw error
}
