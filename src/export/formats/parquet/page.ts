import type { Encoding } from 'hyparquet'
import type { Column } from '../columns.js'

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
