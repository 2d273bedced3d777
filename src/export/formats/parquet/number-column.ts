import type { BatchRows, FixedColumn } from '../columns.js'
import { releaseBuffer, takeBuffer } from '../spare-buffers.js'
import type { Bound, Page, PageColumn } from './page.js'

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
