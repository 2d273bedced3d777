/** Bytes gathered before they are handed on: fewer, larger writes. */
const CHUNK_BYTES = 256 * 1024

/** A buffer that text formats write into. Chunks taken out of it are never written to again. */
export class ByteWriter {
  private buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  private at = 0

  /** Whether enough has gathered to be handed on. */
  get full(): boolean {
    return this.at >= CHUNK_BYTES / 2
  }

  /** Makes room for `bytes` more; the writes below do not check. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, this.at + bytes))
    this.buffer.copy(larger, 0, 0, this.at)
    this.buffer = larger
  }

  byte(value: number): void {
    this.buffer[this.at++] = value
  }

  /** Copies `from[start, end)`. A loop: for the 5 to 20 bytes of a cell it beats a call into native code. */
  copy(from: Uint8Array, start: number, end: number): void {
    const { buffer } = this
    let { at } = this
    for (let i = start; i < end; i++) buffer[at++] = from[i]
    this.at = at
  }

  /** Writes text of any length as UTF-8. */
  text(text: string): void {
    this.reserve(3 * text.length)
    this.at += this.buffer.write(text, this.at)
  }

  /** What has gathered; the writer starts anew. */
  take(): Uint8Array {
    const chunk = this.buffer.subarray(0, this.at)
    this.buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    this.at = 0
    return chunk
  }
}
