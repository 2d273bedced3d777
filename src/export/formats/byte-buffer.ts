/** Bytes gathered before they are handed on: fewer, larger writes. */
const CHUNK_BYTES = 256 * 1024

/** Bytes read at a time beyond the one that is wanted. */
const SLACK = 3

/** Bytes to copy from, up to `end`; a few more can be read behind it. */
export function copySource(bytes: Uint8Array, end: number = bytes.length): DataView {
  if (end + SLACK <= bytes.length) return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const larger = new Uint8Array(end + SLACK)
  larger.set(bytes.subarray(0, end))
  return new DataView(larger.buffer)
}

/** A buffer that text formats write into. Chunks taken out of it are never written to again. */
export class ByteBuffer {
  private buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  private view = new DataView(this.buffer.buffer)
  private at = 0

  /** Whether enough has gathered to be handed on. */
  get full(): boolean {
    return this.at >= CHUNK_BYTES / 2
  }

  /** Makes room for `bytes` more; the writes below do not check. */
  reserve(bytes: number): void {
    if (this.at + bytes + SLACK <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, this.at + bytes + SLACK))
    this.buffer.copy(larger, 0, 0, this.at)
    this.fill(larger)
  }

  /**
   * Copies `from[start, end)`, four bytes at a time: for the 5 to 20 bytes of a cell that takes half of what a byte at a
   * time does, and less than a call into native code.
   */
  copy(from: DataView, start: number, end: number): void {
    const { view, at } = this
    const length = end - start
    for (let i = 0; i < length; i += 4) view.setInt32(at + i, from.getInt32(start + i, true), true)
    this.at = at + length
  }

  /** Writes any number of bytes. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.at)
    this.at += bytes.length
  }

  /** Writes text of any length as UTF-8. */
  text(text: string): void {
    this.reserve(3 * text.length)
    this.at += this.buffer.write(text, this.at)
  }

  /** What has gathered; the writer starts anew. */
  take(): Uint8Array {
    const chunk = this.buffer.subarray(0, this.at)
    this.fill(Buffer.allocUnsafeSlow(CHUNK_BYTES))
    this.at = 0
    return chunk
  }

  private fill(buffer: Buffer<ArrayBuffer>): void {
    this.buffer = buffer
    this.view = new DataView(buffer.buffer)
  }
}
