import { dirname } from 'node:path'
import type { DeltaLog } from './delta/actions.js'
import { writeCheckpointIfDue } from './delta/checkpoint.js'
import { overtaken } from './delta/commit.js'
import { readLog } from './delta/log.js'
import { vacuum } from './delta/vacuum.js'
import type { LakeFolder } from './folder.js'
import { partVersion } from './layout.js'
import type { LakeSeries } from './manifest.js'
import type { UpdateOptions } from './plan.js'
import { removeLog, removeParts } from './removal.js'
import type { RootFiles } from './root/files.js'

/** What a lake is to have when all of its parts are in their places. */
export interface FinishedParts {
  readonly series: readonly LakeSeries[]
  /** The parts of the lake before that it does not have any more. */
  readonly gone: readonly string[]
}

/** How a lake is completed: see `UpdateOptions`. */
type FinishOptions = Pick<UpdateOptions, 'unusedSince' | 'checkLock'>

/**
 * Completes a version that is in the log; returns the number of removed files of old versions. Plain parts, of a lake that was turned
 * into a table, go last: until then the old views are right, and then the new ones. For that time, a glob over all files reads both,
 * as a glob in every table does.
 */
export async function finishTable(
  folder: LakeFolder,
  log: DeltaLog,
  { series }: FinishedParts,
  files: RootFiles,
  { unusedSince, checkLock }: FinishOptions,
): Promise<number> {
  const { root } = folder
  await files.write(series, [...log.live.keys()].sort())
  const useless = folder.files.filter(path => isUseless(path, log, folder.log))
  if (useless.length > 0) await removeUnnamed(root, useless, checkLock)
  await writeCheckpointIfDue(root, log, checkLock)
  if (unusedSince === undefined) return 0
  const latest = await readLog(root)
  checkLock()
  return latest === undefined ? 0 : (await vacuum(root, latest, unusedSince)).length
}

/**
 * Whether no version can have a part: a plain one, and one that a run has left that was killed before it made its version. Its
 * version is there now, of this run, so that a run which only slept cannot make it either. `before`: the log before this run.
 */
function isUseless(path: string, log: DeltaLog, before: DeltaLog | undefined): boolean {
  if (log.live.has(path)) return false
  const version = partVersion(path)
  return version === undefined || before === undefined || (version > before.version && version <= log.version)
}

/** Removes parts that no version has: the log is read again, because it decides. */
export async function removeUnnamed(root: string, paths: readonly string[], checkLock?: () => void): Promise<void> {
  const log = await readLog(root)
  checkLock?.()
  removeParts(
    root,
    paths.filter(path => !log?.live.has(path) && !log?.removed.has(path)),
  )
}

/**
 * Completes a lake of plain files. The log of a table that was turned into one goes after the new views and the manifest are there,
 * and the table's parts after the log: readers of the log see its last version until it is gone, all at once, and the views and the
 * manifest never name its parts. Throws `lake_busy` when another program has made a version meanwhile.
 */
export async function finishPlain(
  folder: LakeFolder,
  { series, gone }: FinishedParts,
  files: RootFiles,
  { checkLock }: FinishOptions,
): Promise<void> {
  const { root, log } = folder
  const latest = log && (await readLog(root))
  if (latest && latest.version !== log.version) throw overtaken(root, latest.version)
  checkLock()
  if (log === undefined) removeParts(root, gone)
  await files.write(series)
  checkLock()
  if (log) removeLog(root)
  removeParts(
    root,
    folder.files.filter(path => partVersion(path) !== undefined),
  )
}

/** The parts of a lake that no other one replaces. */
export function findRemoved({ series, gone }: FinishedParts): string[] {
  const folders = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => dirname(path))))
  return gone.filter(path => !folders.has(dirname(path)))
}
