import CliTable from 'cli-table3'
import { stringify } from 'csv-stringify/sync'
import { cutToColumns, formatCount, textColumns } from '../../klines/text.js'

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

/** A table whose cells are texts. */
interface TextTable extends Table {
  readonly rows: readonly (readonly string[])[]
}

/** Characters between two columns. */
const GAP = 2
/** A text is not cut shorter than this. */
const MIN_TEXT = 12

/**
 * Makes a table fit a width: texts are cut first, then the last columns are left out, and named in `omitted`. Numbers, the columns in
 * `right`, are never cut. At least one column stays.
 */
export function fitTable(table: TextTable, width: number): { table: TextTable; omitted: string[] } {
  const { head, rows, right = [] } = table
  const isText = head.map(name => !right.includes(name))
  const widths = head.map((name, index) => Math.max(textColumns(name), ...rows.map(row => textColumns(row[index]))))
  const total = () => widths.reduce((sum, width) => sum + width + GAP, -GAP)
  for (;;) {
    const excess = total() - width
    const widest = Math.max(...widths.filter((width, index) => isText[index] && width > MIN_TEXT), 0)
    if (excess <= 0 || widest === 0) break
    widths[widths.findIndex((width, index) => isText[index] && width === widest)] = Math.max(MIN_TEXT, widest - excess)
  }
  while (widths.length > 1 && total() > width) widths.pop()
  const cutRow = (cells: readonly string[]) => widths.map((width, index) => cut(cells[index], width))
  return {
    table: {
      head: cutRow(head),
      rows: rows.map(cutRow),
      right: right.filter(name => head.indexOf(name) < widths.length),
    },
    omitted: head.slice(widths.length),
  }
}

function cut(text: string, width: number): string {
  return textColumns(text) > width ? `${cutToColumns(text, width - 1)}…` : text
}
