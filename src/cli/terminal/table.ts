import CliTable from 'cli-table3'
import { stringify } from 'csv-stringify/sync'
import { formatCount, textColumns } from '../../candles/text.js'

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  /** Columns that are aligned to the right. */
  readonly right?: readonly string[]
}

/** All parts of a frame: none is drawn. */
const FRAME =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'

const GAP = 2

/** A table as plain columns, easy to grep; numbers with thousands separators. */
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

/** Several tables where one is wider than the terminal: each begins with the first `keys` columns. `groups` stay together where they fit. */
export function fittingText(
  { head, rows, right }: Table,
  keys: number,
  groups: readonly (readonly string[])[] = [head.slice(keys)],
  columns = process.stdout.columns || 80,
): string {
  const texts = toTexts(rows)
  const widths = head.map((name, index) => Math.max(...[name, ...texts.map(row => row[index])].map(textColumns)))
  const fits = (part: readonly number[]) => part.reduce((sum, index) => sum + widths[index] + GAP, -GAP) <= columns
  const all = [...head.keys()]
  const split = groups.flatMap(group => {
    const parts: number[][] = []
    for (const index of group.map(name => head.indexOf(name))) {
      const last = parts.at(-1)
      if (last && fits([...last, index])) last.push(index)
      else parts.push([...all.slice(0, keys), index])
    }
    return parts
  })
  const tables = (fits(all) ? [all] : split).map(part => {
    const pick = (cells: readonly string[]) => part.map(index => cells[index])
    return textTable({ head: pick(head), rows: texts.map(pick), right })
  })
  return tables.join('\n\n')
}
