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
