import { stringify } from 'csv-stringify/sync'
import { textTable } from './text.js'

/** A table that is shown as text or as CSV. */
export interface TableReport {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  /** Columns that are aligned to the right. */
  readonly right: readonly string[]
}

/** A table as plain columns. */
export function tableText({ head, rows, right }: TableReport): string {
  return textTable(head, rows, right)
}

/** A table as CSV, with `_` for the blanks in the names of its columns. */
export function tableCsv({ head, rows }: TableReport): string {
  const names = head.map(name => name.replaceAll(/[^a-z0-9]+/gi, '_').replace(/_$/, ''))
  return stringify([names, ...rows.map(row => [...row])]).trimEnd()
}
