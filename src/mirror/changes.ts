import { refuseLinks } from '../fs/links.js'
import type { WindowChange } from '../klines/batch/diff.js'
import type { Column } from '../klines/columns.js'
import type { WindowRef } from '../klines/series.js'
import { toMirrorError } from './errors.js'
import { LineFile } from './line-file.js'

/** The file at a mirror's root that has the changed candles: outside of the tree, so that nothing lists, serves or publishes it. */
export const CHANGES_FILE = 'changes.jsonl'

/** A cell of a cached candle that the service changed: a line of the file. Times in ms UTC. */
export interface RecordedChange extends WindowRef {
  /** When the change was seen, by this machine's clock. */
  readonly time: number
  readonly openTime: number
  readonly column: Column
  /** Null for a candle that was not there, although a later one of its window was: its `column` is `open_time`. */
  readonly before: string | null
  readonly after: string
}

/**
 * What a new version of a window changes of the cached one: cells, and candles that it adds before the last cached one. Candles after
 * that are no change, and of a version that lacks candles nothing is stored.
 */
export function listChanges(
  { interval, symbol, startDate }: WindowRef,
  { added, changed }: WindowChange,
  lastOpenTime: number | undefined,
  time: number,
): RecordedChange[] {
  const window = { symbol, interval, startDate }
  const filled = added
    .filter(openTime => openTime < (lastOpenTime ?? -Infinity))
    .map(openTime => ({ openTime, column: 'open_time' as const, before: null, after: String(openTime) }))
  return [...changed, ...filled]
    .sort((a, b) => a.openTime - b.openTime)
    .map(({ openTime, column, before, after }) => ({ time, ...window, openTime, column, before, after }))
}

/** Appends the changes of a window, with one write; they are on the disk when it returns. Throws `mirror_unusable` and `linked_path`. */
export function appendChanges(root: string, changes: readonly RecordedChange[]): void {
  try {
    refuseLinks(root, CHANGES_FILE)
    const file = new LineFile(root, CHANGES_FILE, { sync: true })
    file.append(changes.map(change => `${JSON.stringify(change)}\n`).join(''))
  } catch (error) {
    throw toMirrorError(error, 'write', root, CHANGES_FILE)
  }
}
