import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { KlinesError } from '../../klines/errors.js'
import { timeBefore } from '../../klines/time-range.js'
import { findFiles, parsePartPath, partVersion } from '../layout.js'
import { removeParts } from '../removal.js'
import type { DeltaLog } from './actions.js'
import { checkpointPath, readCheckpoint } from './checkpoint.js'
import { commitPath, listLog, readCommit } from './log.js'

/** The time before which versions need not stay readable, ms UTC. `length`: such as `7d`. Throws `bad_option`. */
export function vacuumTime(length: string, now: number): number {
  try {
    return timeBefore(now, length)
  } catch (cause) {
    const message = `\`vacuum\` is "${length}". Expected a length of time of 1h or more, such as 7d (h, d, w, M, y).`
    const suggestions = ['Queries that read an older version must have ended by then.']
    throw new KlinesError('bad_option', message, { cause, suggestions })
  }
}

/** The files of a table that nothing needs any more, relative to it. */
interface UnusedFiles {
  readonly parts: readonly string[]
  /** Entries of the log, and checkpoints. */
  readonly log: readonly string[]
}

/**
 * Finds the parts that no version since a time (ms UTC) has, and the entries of the log before it that a checkpoint replaces.
 * Every version that was the newest one at that time or later needs none of them.
 */
export async function findUnused(root: string, log: DeltaLog, since: number): Promise<UnusedFiles> {
  const parts = findFiles(root).filter(path => parsePartPath(path) && partVersion(path) !== undefined)
  const { commits, checkpoints } = listLog(root)
  const known = checkpoints.filter(version => version <= log.version)
  const oldest = await findOldest(root, known, since)
  const before = (version: number) => version < oldest
  return {
    parts: parts.filter(path => !log.live.has(path) && removalTime(root, log, path) < since),
    log: [...commits.filter(before).map(commitPath), ...checkpoints.filter(before).map(checkpointPath)],
  }
}

/** Removes what `findUnused` finds. Returns the paths of the parts. Throws `output_unwritable`. */
export async function vacuum(root: string, log: DeltaLog, since: number): Promise<readonly string[]> {
  const unused = await findUnused(root, log, since)
  removeParts(root, unused.parts)
  removeParts(root, unused.log)
  return unused.parts
}

/** When a part was removed; for one that no version has ever had, or that the log has forgotten, when it was written. */
function removalTime(root: string, { removed }: DeltaLog, path: string): number {
  return removed.get(path)?.deletionTimestamp ?? lstatSync(join(root, path)).mtimeMs
}

/** The version of the newest checkpoint before a time that can be read: it replaces the entries before it. 0 when there is none. */
async function findOldest(root: string, checkpoints: readonly number[], since: number): Promise<number> {
  for (const version of checkpoints.toReversed()) {
    if (!(commitTime(root, version) < since)) continue
    try {
      await readCheckpoint(root, version)
      return version
    } catch {
      // Versions after it are read from the entries before it.
    }
  }
  return 0
}

/** When a version was made. One without an entry of its own is of no use as the oldest one. */
function commitTime(root: string, version: number): number {
  try {
    return Number(readCommit(root, version)[0].commitInfo?.timestamp)
  } catch {
    return Infinity
  }
}
