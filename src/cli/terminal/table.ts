/** Rows under a header. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  /** Columns that are aligned to the right. */
  readonly right?: readonly string[]
}

/** A table as plain columns, easy to read and to grep: no frame and no colour. */
export function textTable({ head, rows, right = [] }: Table): string {
  const lines = [head, ...rows].map(row => row.map(String))
  const widths = head.map((_, column) => Math.max(...lines.map(cells => cells[column].length)))
  const pad = (cell: string, column: number) =>
    right.includes(head[column]) ? cell.padStart(widths[column]) : cell.padEnd(widths[column])
  return lines.map(cells => cells.map(pad).join('  ').trimEnd()).join('\n')
}

/** A table as CSV, with `_` for the blanks in the names of its columns. */
export function csvTable({ head, rows }: Table): string {
  const names = head.map(name => name.replaceAll(/[^a-z0-9]+/gi, '_').replace(/_$/, ''))
  const quote = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return [names, ...rows].map(row => row.map(cell => quote(String(cell))).join(',')).join('\n')
}
