import { COLUMNS } from '../candles/columns.js'
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
  const inside = added.filter(openTime => openTime < (cached.lastOpenTime ?? -Infinity))
  const filled = inside.map(openTime => ({ openTime, column, before: null, after: String(openTime) }))
  const withdrawn = lost.map(openTime => ({ openTime, column, before: String(openTime), after: null }))
  return [...changed, ...filled, ...withdrawn].sort((a, b) => a.openTime - b.openTime)
}
