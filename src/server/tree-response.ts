import { knownStartDates, windowSpan } from '../klines/calendar.js'
import { parseTreePath, type TreeEntry } from '../klines/paths.js'
import { SYMBOLS } from '../klines/symbols.js'
import type { Mirror } from '../mirror/mirror.js'

/** What the tree says at a path: a file's bytes with its time, or bytes that follow from a rule and have none. */
export interface TreeFile {
  readonly bytes: Buffer
  readonly mtimeMs?: number
}

/**
 * What a mirror's tree serves at `path` (`api/klines/...`), or why nothing, in a few words.
 * A window that is not held is `[]` only when that is certain: it starts after `now` (ms UTC), or the mirror is complete.
 * The lists are always there: those that come with this version where the mirror has none.
 */
export function treeFile(mirror: Mirror, path: string, now: number): TreeFile | string {
  const entry = parseTreePath(path)
  if (!entry) return 'There is no such file in the tree of klines.'
  const held = mirror.readBytes(path)
  if (held !== undefined && held !== 'broken') return held
  return (
    builtIn(entry) ??
    (isSurelyEmpty(entry, mirror, now) ? { bytes: Buffer.from('[]') } : 'This window is not in the mirror.')
  )
}

function builtIn(entry: TreeEntry): TreeFile | undefined {
  if (entry.kind === 'symbols') return { bytes: Buffer.from(JSON.stringify(SYMBOLS)) }
  if (entry.kind === 'startDates') return { bytes: Buffer.from(JSON.stringify(knownStartDates(entry.interval))) }
  return undefined
}

function isSurelyEmpty(entry: TreeEntry, mirror: Mirror, now: number): boolean {
  if (entry.kind !== 'window') return false
  return windowSpan(entry.window).startTime > now || mirror.readMeta()?.complete === true
}
