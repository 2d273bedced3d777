/**
 * Buffers of finished files, which the next ones use again: memory outside of the heap stays until the whole heap is collected,
 * which is late. Without this, an export of many files takes twice the memory.
 */
const spare = new Map<number, ArrayBuffer[]>()
/** Buffers of one size: those of a Parquet file, which has a dozen columns. */
const MAX_SPARE = 24

/** A buffer of that many bytes, whose content is anything. */
export function takeBuffer(bytes: number): ArrayBuffer {
  return spare.get(bytes)?.pop() ?? new ArrayBuffer(bytes)
}

/** Takes a buffer back, once: nobody may use it any more. */
export function releaseBuffer(buffer: ArrayBuffer): void {
  const buffers = spare.get(buffer.byteLength) ?? []
  spare.set(buffer.byteLength, buffers)
  if (buffers.length < MAX_SPARE) buffers.push(buffer)
}

/** Bytes that are collected before they are passed on: fewer, larger writes. */
const CHUNK_BYTES = 256 * 1024

/** A growing buffer that text formats write into. */
export class ByteBuffer {
  private buffer = Buffer.from(takeBuffer(CHUNK_BYTES))
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

  /** Returns a copy of what was collected, and begins again. */
  take(): Uint8Array {
    const chunk = Buffer.allocUnsafeSlow(this.length)
    this.buffer.copy(chunk)
    this.length = 0
    return chunk
  }

  /** Frees the memory for the next file. Nothing may be called after it. */
  release(): void {
    releaseBuffer(this.buffer.buffer)
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    let size = this.buffer.length
    while (size < this.length + bytes) size *= 2
    const larger = Buffer.from(takeBuffer(size))
    this.buffer.copy(larger, 0, 0, this.length)
    releaseBuffer(this.buffer.buffer)
    this.buffer = larger
  }
}
