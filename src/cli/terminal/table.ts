import CliTable from 'cli-table3'
import { stringify } from 'csv-stringify/sync'
import { formatCount } from '../../klines/text.js'

/** Rows under a header. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  /** Columns that are aligned to the right. */
  readonly right?: readonly string[]
}

/** The parts of a frame, all of which are left out. */
const FRAME =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'

/** A table as plain columns, easy to read and to grep: no frame and no colour; numbers with thousands separators. */
export function textTable({ head, rows, right = [] }: Table): string {
  const table = new CliTable({
    head: [...head],
    chars: { ...Object.fromEntries(FRAME.split(' ').map(part => [part, ''])), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map(name => (right.includes(name) ? 'right' : 'left')),
  })
  table.push(...rows.map(row => row.map(cell => (typeof cell === 'number' ? formatCount(cell) : cell))))
  return table.toString().replaceAll(/ +$/gm, '')
}

/** A table as CSV, with `_` for the blanks in the names of its columns. */
export function csvTable({ head, rows }: Table): string {
  const names = head.map(name => name.replaceAll(/[^a-z0-9]+/gi, '_').replace(/_$/, ''))
  return stringify([names, ...rows.map(row => [...row])]).trimEnd()
}
