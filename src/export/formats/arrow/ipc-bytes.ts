import { AsyncByteQueue } from 'apache-arrow'

/**
 * The bytes that an Arrow IPC writer writes: a sink for its `reset` that returns them when asked. The writer's own queue can
 * only be read asynchronously, and has no bound.
 */
export class IpcBytes extends AsyncByteQueue {
  private parts: Uint8Array[] = []

  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
  }

  /** A copy of all bytes written since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.parts)
    this.parts = []
    return bytes
  }
}
