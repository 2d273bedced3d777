import { COLUMNS, ROW_LENGTH } from '../columns.js'
import { type KlineBatch, OFFSETS_PER_ROW } from './kline-batch.js'

/** A cell whose text differs between two versions of a window. */
export interface ChangedCell {
  readonly openTime: number
  readonly column: (typeof COLUMNS)[number]
  readonly before: string
  readonly after: string
}

/** How a newer version of a window differs from the one held. Times are open times, ms UTC. */
export interface WindowChange {
  readonly lost: number[]
  readonly added: number[]
  readonly changed: ChangedCell[]
}

/** Compares two versions of a window row by row, by open time, every cell as text. */
export function diffBatches(held: KlineBatch, next: KlineBatch): WindowChange {
  const change: WindowChange = { lost: [], added: [], changed: [] }
  let [a, b] = [0, 0]
  while (a < held.length || b < next.length) {
    const before = a < held.length ? held.openTime(a) : Number.POSITIVE_INFINITY
    const after = b < next.length ? next.openTime(b) : Number.POSITIVE_INFINITY
    if (before < after) change.lost.push(held.openTime(a++))
    else if (after < before) change.added.push(next.openTime(b++))
    else change.changed.push(...changedCells(held, a++, next, b++))
  }
  return change
}

function changedCells(held: KlineBatch, a: number, next: KlineBatch, b: number): ChangedCell[] {
  const cells: ChangedCell[] = []
  for (let column = 0; column < ROW_LENGTH; column++) {
    if (isSameCell(held, a, next, b, column)) continue
    const [before, after] = [held.text(a, column), next.text(b, column)]
    cells.push({ openTime: held.openTime(a), column: COLUMNS[column], before, after })
  }
  return cells
}

/** Byte by byte: a refresh compares millions of cells, of which hardly one has changed. */
function isSameCell(held: KlineBatch, a: number, next: KlineBatch, b: number, column: number): boolean {
  const [x, y] = [a * OFFSETS_PER_ROW + 2 * column, b * OFFSETS_PER_ROW + 2 * column]
  const [start, end, other] = [held.offsets[x], held.offsets[x + 1], next.offsets[y]]
  if (end - start !== next.offsets[y + 1] - other) return false
  for (let i = 0; i < end - start; i++) if (held.bytes[start + i] !== next.bytes[other + i]) return false
  return true
}
