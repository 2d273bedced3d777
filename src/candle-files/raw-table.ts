import type { FileFacts } from './file-facts.js'

/** The cells of a row in the order of the columns: texts, numbers and integers, as the format has them. */
export type RawRow = readonly unknown[]

/** A file as a table whose cells nobody has checked yet. */
export interface RawTable {
  readonly columns: readonly string[]
  readonly facts: FileFacts
  /** The columns of doubles, if the format says that. */
  readonly doubles: readonly string[]
  /** Reads the rows in order, many at once: memory does not grow with their number. */
  rows(): AsyncIterable<readonly RawRow[]>
}
