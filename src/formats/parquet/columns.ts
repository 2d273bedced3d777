import type { Encoding } from 'hyparquet'
import { OFFSETS_PER_ROW } from '../../rows/wasm/assembly/layout.js'
import { releaseBuffer, takeBuffer } from '../buffers.js'
import type { BatchRows, Column, FixedColumn } from '../columns.js'

/** The least or greatest value of a column. A text is a string of its UTF-8 bytes, so that `<` compares bytes. */
export type Bound = number | bigint | string

/** The values of one column in some rows, encoded. */
export interface Page {
  readonly bytes: Uint8Array
  readonly encoding: Extract<Encoding, 'PLAIN' | 'RLE_DICTIONARY'>
  /** Number of values. */
  readonly values: number
  readonly min: Bound
  readonly max: Bound
}

/** The distinct values that the pages of a column chunk refer to. */
export interface DictionaryPage {
  /** PLAIN. */
  readonly bytes: Uint8Array
  /** Number of values. */
  readonly values: number
}

/** A column of a Parquet file that is being filled, page by page. */
export interface PageColumn extends Column {
  /** The first `length` values as a page, whose bytes are valid until the next one is taken. The next page starts. */
  takePage(length: number): Page
  /** The dictionary of the pages taken so far, if they have one. The next row group starts. */
  takeDictionary?(): DictionaryPage | undefined
  /** Gives large buffers to other columns; nothing may be called afterwards. */
  release?(): void
}

/** A column of values of one size. PLAIN is their bytes, one after the other. */
export class NumberColumn implements PageColumn {
  /** The page before, which is compressed while the next one is filled. */
  private page: Uint8Array<ArrayBuffer>

  constructor(
    private readonly column: FixedColumn<number | bigint>,
    rows: number,
  ) {
    this.page = new Uint8Array(takeBuffer(rows * column.valueBytes))
  }

  append(rows: BatchRows, start: number, end: number, to: number): void {
    this.column.append(rows, start, end, to)
  }

  takePage(length: number): Page {
    const { bytes, min, max } = this.column.take(length, this.page)
    this.page = new Uint8Array(bytes.buffer)
    return { bytes, encoding: 'PLAIN', values: length, min: lowerZero(min), max }
  }

  release(): void {
    this.column.release()
    releaseBuffer(this.page.buffer)
  }
}

/** Readers may take a zero for either one, so the format requires the lower one as the least value. */
function lowerZero(min: number | bigint): Bound {
  return min === 0 ? -0 : min
}

/** Bytes of the length in front of each text. */
const LENGTH_BYTES = 4
/** Room for a text at first. */
const FIRST_BYTES = 24

/** Cells as the source has them. PLAIN is the length of each text in 4 bytes, little-endian, and its bytes. */
export class TextColumn implements PageColumn {
  private bytes: Buffer<ArrayBuffer>
  /** The page before, which is compressed while the next one is filled. */
  private page: Buffer<ArrayBuffer>
  private end = 0
  private min = Buffer.alloc(0)
  private max = Buffer.alloc(0)

  constructor(
    private readonly column: number,
    private readonly rows: number,
  ) {
    this.bytes = Buffer.from(takeBuffer(FIRST_BYTES * rows))
    this.page = Buffer.from(takeBuffer(FIRST_BYTES * rows))
  }

  append({ batch: { bytes, offsets } }: BatchRows, start: number, end: number): void {
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      this.put(bytes, offsets[cell], offsets[cell + 1])
    }
  }

  takePage(length: number): Page {
    const bytes = this.bytes.subarray(0, this.end)
    const [min, max] = [this.min, this.max].map(bound => bound.toString('latin1'))
    ;[this.bytes, this.page] = [this.page, this.bytes]
    this.end = 0
    return { bytes, encoding: 'PLAIN', values: length, min, max }
  }

  release(): void {
    for (const { buffer } of [this.bytes, this.page]) {
      // One that has grown is of no use for others.
      if (buffer.byteLength === FIRST_BYTES * this.rows) releaseBuffer(buffer)
    }
  }

  private put(source: Uint8Array, start: number, end: number): void {
    const length = end - start
    const isFirst = this.end === 0
    const to = this.end + LENGTH_BYTES
    this.end = to + length
    if (this.end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.end)
      this.bytes.copy(larger)
      this.bytes = larger
    }
    this.bytes.writeUInt32LE(length, to - LENGTH_BYTES)
    for (let i = 0; i < length; i++) this.bytes[to + i] = source[start + i]
    if (isFirst || compareBytes(source, start, end, this.min) < 0) this.min = Buffer.from(source.subarray(start, end))
    if (isFirst || compareBytes(source, start, end, this.max) > 0) this.max = Buffer.from(source.subarray(start, end))
  }
}

/** Compares `bytes[start, end)` with `other`; faster than Buffer.compare for some bytes. */
function compareBytes(bytes: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const length = Math.min(end - start, other.length)
  for (let i = 0; i < length; i++) if (bytes[start + i] !== other[i]) return bytes[start + i] - other[i]
  return end - start - other.length
}
