import { COLUMNS, ROW_LENGTH } from '../candles/columns.js'
import type { KlineBatch } from './kline-batch.js'
import { OFFSETS_PER_ROW } from './wasm/assembly/layout.js'

/** A cell that differs between two versions of a window; `before` or `after` is null for a candle of only one of them. */
export interface ChangedCell {
  /** Open time of the candle, ms UTC. */
  readonly openTime: number
  readonly column: (typeof COLUMNS)[number]
  readonly before: string | null
  readonly after: string | null
}

/** How the new version of a window differs from the cached one. Times are open times, ms UTC. */
export interface WindowChange {
  readonly lost: number[]
  readonly added: number[]
  readonly changed: ChangedCell[]
}

/** Compares two versions of a window by open time, every cell as text. */
export function diffBatches(cached: KlineBatch, next: KlineBatch): WindowChange {
  const change: WindowChange = { lost: [], added: [], changed: [] }
  let [row, nextRow] = [0, 0]
  while (row < cached.length || nextRow < next.length) {
    const before = row < cached.length ? cached.openTime(row) : Infinity
    const after = nextRow < next.length ? next.openTime(nextRow) : Infinity
    if (before < after) change.lost.push(cached.openTime(row++))
    else if (after < before) change.added.push(next.openTime(nextRow++))
    else change.changed.push(...diffRows(cached, row++, next, nextRow++))
  }
  return change
}

/** The cells that differ in two rows of one open time, by `isSame`; default: their texts. */
export function diffRows(
  cached: KlineBatch,
  row: number,
  next: KlineBatch,
  nextRow: number,
  isSame = isSameCell,
): ChangedCell[] {
  const cells: ChangedCell[] = []
  for (let column = 0; column < ROW_LENGTH; column++) {
    if (isSame(cached, row, next, nextRow, column)) continue
    const [before, after] = [cached.text(row, column), next.text(nextRow, column)]
    cells.push({ openTime: cached.openTime(row), column: COLUMNS[column], before, after })
  }
  return cells
}

/** Compares bytes: a refresh compares millions of cells, and hardly one has changed. */
export function isSameCell(
  cached: KlineBatch,
  row: number,
  next: KlineBatch,
  nextRow: number,
  column: number,
): boolean {
  const cell = row * OFFSETS_PER_ROW + 2 * column
  const nextCell = nextRow * OFFSETS_PER_ROW + 2 * column
  const start = cached.offsets[cell]
  const nextStart = next.offsets[nextCell]
  const length = cached.offsets[cell + 1] - start
  if (next.offsets[nextCell + 1] - nextStart !== length) return false
  for (let i = 0; i < length; i++) if (cached.bytes[start + i] !== next.bytes[nextStart + i]) return false
  return true
}
