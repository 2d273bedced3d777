import { createHash } from 'node:crypto'
import type { OutputFile } from '../../export/output/file.js'
import type { Output } from '../../export/output/output.js'
import type { FinishedFile } from '../../export/output/placement.js'

/** A file being written, and the SHA-256 of its bytes. */
export class HashedOutput implements Output {
  private readonly hash = createHash('sha256')

  constructor(private readonly file: OutputFile) {}

  get path(): string {
    return this.file.path
  }

  get bytes(): number {
    return this.file.bytes
  }

  get finished(): FinishedFile | undefined {
    return this.file.finished
  }

  write(chunk: Uint8Array): Promise<void> {
    this.hash.update(chunk)
    return this.file.write(chunk)
  }

  finish(): Promise<void> {
    return this.file.finish()
  }

  discard(): Promise<void> {
    return this.file.discard()
  }

  /** The hash in hex. To be called once, when all is written. */
  digest(): string {
    return this.hash.digest('hex')
  }
}
