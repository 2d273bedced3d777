/** Bytes that are collected before they are passed on: fewer, larger writes. */
const CHUNK_BYTES = 256 * 1024

/** A growing buffer that text formats write into. */
export class ByteBuffer {
  private buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  /** Number of bytes in the buffer. */
  length = 0

  /** Whether the buffer holds enough to be passed on. */
  get isFull(): boolean {
    return this.length >= CHUNK_BYTES / 2
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Appends text as UTF-8. */
  text(text: string): void {
    this.reserve(3 * text.length)
    this.length += this.buffer.write(text, this.length)
  }

  /** Removes `count` bytes at `offset`. */
  remove(offset: number, count: number): void {
    this.buffer.copyWithin(offset, offset + count, this.length)
    this.length -= count
  }

  /** Returns what was collected and starts a new buffer: the bytes returned are never written to again. */
  take(): Uint8Array {
    const chunk = this.buffer.subarray(0, this.length)
    this.buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    this.length = 0
    return chunk
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }
}
