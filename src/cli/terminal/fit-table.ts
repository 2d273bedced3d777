import { cutToColumns, textColumns } from '../../klines/text.js'
import type { Table } from './table.js'

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
