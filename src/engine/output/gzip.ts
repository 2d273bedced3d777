import { once } from 'node:events'
import { createGzip } from 'node:zlib'
import type { FinishedFile, Output } from './output.js'

/** Compresses what goes to another output, as one gzip member without time or name: the same input gives the same bytes. */
export class GzipOutput implements Output {
  private readonly gzip = createGzip()
  private readonly passedOn: Promise<void>

  constructor(private readonly output: Output) {
    this.passedOn = this.passOn()
    // `write` and `finish` report a failure.
    this.passedOn.catch(() => {})
    this.gzip.on('error', () => {})
  }

  get path(): string {
    return this.output.path
  }

  get bytes(): number {
    return this.output.bytes
  }

  get finished(): FinishedFile | undefined {
    return this.output.finished
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.gzip.destroyed) await this.passedOn
    if (!this.gzip.write(chunk)) await Promise.race([once(this.gzip, 'drain'), this.passedOn])
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

  private async passOn(): Promise<void> {
    for await (const chunk of this.gzip) await this.output.write(chunk)
  }
}
