import CliTable from 'cli-table3'
import { stringify } from 'csv-stringify/sync'
import { formatCount, textColumns } from '../../candles/text.js'

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

/** Characters between two columns. */
export const GAP = 2

/** A table as plain columns, easy to read and to grep: no frame and no colour; numbers with thousands separators. */
export function textTable({ head, rows, right = [] }: Table): string {
  const table = new CliTable({
    head: [...head],
    chars: { ...Object.fromEntries(FRAME.split(' ').map(part => [part, ''])), middle: ' '.repeat(GAP) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map(name => (right.includes(name) ? 'right' : 'left')),
  })
  table.push(...toTexts(rows))
  return table.toString().replaceAll(/ +$/gm, '')
}

function toTexts(rows: Table['rows']): string[][] {
  return rows.map(row => row.map(cell => (typeof cell === 'number' ? formatCount(cell) : cell)))
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

/** Where there is no terminal. */
const COLUMNS = 80
/** The columns of a terminal that each column of a table takes. */
function columnWidths({ head, rows }: TextTable): number[] {
  return head.map((name, index) => Math.max(textColumns(name), ...rows.map(row => textColumns(row[index]))))
}

/**
 * The positions of the columns of several tables that replace one which is wider than `width`: each begins with the first `keys`
 * columns. `groups`: names of other columns that stay together where they fit. One table, if that fits.
 */
export function splitColumns(
  table: TextTable,
  width: number,
  keys: number,
  groups: readonly (readonly string[])[] = [table.head.slice(keys)],
): number[][] {
  const { head } = table
  const widths = columnWidths(table)
  const all = [...head.keys()]
  const totalWidth = (columns: readonly number[]) => columns.reduce((sum, column) => sum + widths[column] + GAP, -GAP)
  if (totalWidth(all) <= width) return [all]
  return groups.flatMap(group => {
    const parts: number[][] = []
    for (const column of group.map(name => head.indexOf(name))) {
      const last = parts.at(-1)
      if (last && totalWidth([...last, column]) <= width) last.push(column)
      else parts.push([...all.slice(0, keys), column])
    }
    return parts
  })
}

/** A table as text that fits into the terminal, or elsewhere into 80 columns: see `splitColumns`. */
export function fittingText(
  { head, rows, right }: Table,
  keys: number,
  groups?: readonly (readonly string[])[],
): string {
  const texts = toTexts(rows)
  const parts = splitColumns({ head, rows: texts }, process.stdout.columns || COLUMNS, keys, groups)
  return parts
    .map(columns => {
      const pick = (cells: readonly string[]) => columns.map(column => cells[column])
      return textTable({ head: pick(head), rows: texts.map(pick), right })
    })
    .join('\n\n')
}
