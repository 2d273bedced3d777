import { AsyncByteQueue } from 'apache-arrow'

/**
 * What an Arrow IPC writer writes, to be taken synchronously: a sink for its `reset`. The writer's own queue hands bytes
 * over when asked from outside, and has no bound.
 */
export class IpcBytes extends AsyncByteQueue {
  private parts: Uint8Array[] = []
  private scratch = Buffer.alloc(0)

  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
  }

  /** A copy of all that was written since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.parts)
    this.parts = []
    return bytes
  }

  /** The same in a buffer that the next call writes over: for a reader that copies at once. */
  takeBriefly(): Uint8Array {
    const size = this.parts.reduce((total, part) => total + part.length, 0)
    if (size > this.scratch.length) this.scratch = Buffer.allocUnsafeSlow(size + (size >> 2))
    let at = 0
    for (const part of this.parts) {
      this.scratch.set(part, at)
      at += part.length
    }
    this.parts = []
    return this.scratch.subarray(0, size)
  }
}
