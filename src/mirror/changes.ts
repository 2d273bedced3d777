import { COLUMNS } from '../candles/columns.js'
import type { WindowRef } from '../candles/series.js'
import type { ChangedCell, WindowChange } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'

/** The file of the changed cells, a JSON object a line: at a mirror's root, outside of the tree, so nothing serves it. */
export const CHANGES_FILE = 'changes.jsonl'

/**
 * What a new version of a window changes of the cached one, in order of time: cells; candles that it adds before the last cached one
 * (`before` is null); and cached candles that it withdraws (`after` is null). Of both, the column is `open_time`.
 */
export function listChanges(cached: KlineBatch, { added, changed, lost }: WindowChange): ChangedCell[] {
  const [column] = COLUMNS
  const isInside = (openTime: number) => openTime < (cached.lastOpenTime ?? Number.NEGATIVE_INFINITY)
  const filled = added.filter(isInside).map(openTime => ({ openTime, column, before: null, after: String(openTime) }))
  const withdrawn = lost.map(openTime => ({ openTime, column, before: String(openTime), after: null }))
  return [...changed, ...filled, ...withdrawn].sort((a, b) => a.openTime - b.openTime)
}

/** The lines of that file for changes of a window, which were seen at `time`, ms UTC by this machine's clock. */
export function formatChanges(
  { symbol, interval, startDate }: WindowRef,
  cells: readonly ChangedCell[],
  time: number,
): string {
  return cells.map(cell => `${JSON.stringify({ time, symbol, interval, startDate, ...cell })}\n`).join('')
}
