import { textColumns } from '../../candles/text.js'
import { GAP } from './table.js'

/** A column of a table of candles: the text above it, and its cells. */
export interface LayoutColumn {
  readonly head: string
  readonly cells: readonly string[]
  /** Whether its cells are decimals or whole numbers, which are aligned at the decimal point. Default: texts, to the left. */
  readonly isNumber?: boolean
}

/** A table that fits, and how many of its last columns do not. */
export interface Layout {
  readonly text: string
  readonly hidden: number
}

/**
 * Lays columns out within `width` columns of a terminal. No cell is cut: where all digits do not fit, the zeros at the end go that a
 * column has in each of its rows; then the columns come closer; then the last ones are hidden. One stays in any case.
 */
export function layOutColumns(columns: readonly LayoutColumn[], width: number): Layout {
  const [all, short] = [columns.map(alignColumn), columns.map(trimZeros).map(alignColumn)]
  const forms = [
    { aligned: all, gap: GAP },
    { aligned: short, gap: GAP },
    { aligned: short, gap: 1 },
  ]
  for (let count = columns.length; ; count--) {
    for (const { aligned, gap } of forms) {
      const shown = aligned.slice(0, count)
      const widths = shown.map(({ head, cells }) =>
        cells.reduce((most, cell) => Math.max(most, textColumns(cell)), head.length),
      )
      const total = widths.reduce((sum, one) => sum + one + gap, -gap)
      if (count > 1 && total > width) continue
      return { text: toText(shown, widths, gap), hidden: columns.length - count }
    }
  }
}

function toText(columns: readonly LayoutColumn[], widths: readonly number[], gap: number): string {
  const toLine = (texts: readonly string[]) => {
    const padded = texts.map((text, index) => {
      const blanks = ' '.repeat(widths[index] - textColumns(text))
      return columns[index].isNumber ? blanks + text : text + blanks
    })
    return padded.join(' '.repeat(gap)).trimEnd()
  }
  const rows = columns[0].cells.map((_, row) => toLine(columns.map(({ cells }) => cells[row])))
  return [toLine(columns.map(({ head }) => head)), ...rows].join('\n')
}

/** Numbers with blanks, so that their decimal points stand below each other. */
function alignColumn(column: LayoutColumn): LayoutColumn {
  if (!column.isNumber) return column
  const ends = column.cells.map(cell => cell.length - wholeDigits(cell))
  const longest = Math.max(...ends)
  return { ...column, cells: column.cells.map((cell, row) => cell + ' '.repeat(longest - ends[row])) }
}

/** Decimals without the zeros at their end that every row of the column has. */
function trimZeros(column: LayoutColumn): LayoutColumn {
  if (!column.isNumber) return column
  const needed = Math.max(...column.cells.map(cell => decimals(cell).replace(/0+$/, '').length))
  // The point goes with the last decimal.
  const end = (cell: string) => wholeDigits(cell) + (needed === 0 ? 0 : needed + 1)
  return { ...column, cells: column.cells.map(cell => cell.slice(0, end(cell))) }
}

function wholeDigits(cell: string): number {
  return (cell.split('.', 1)[0] as string).length
}

function decimals(cell: string): string {
  return cell.slice(wholeDigits(cell) + 1)
}
