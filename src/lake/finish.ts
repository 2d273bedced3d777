import { dirname } from 'node:path'
import { writeCheckpointIfDue } from './delta/checkpoint.js'
import type { DeltaLog } from './delta/log.js'
import { vacuum } from './delta/vacuum.js'
import type { LakeFolder } from './folder.js'
import { partVersion } from './layout.js'
import type { LakeSeries } from './manifest.js'
import { removeLog, removeParts } from './removal.js'
import type { RootFiles } from './root/root-files.js'

/** What a lake is to have when all of its parts are in their places. */
export interface FinishedParts {
  readonly series: readonly LakeSeries[]
  /** The parts of the lake before that it does not have any more. */
  readonly gone: readonly string[]
}

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
  unusedSince: number | undefined,
): Promise<number> {
  const { root } = folder
  await files.write(series, [...log.live.keys()].sort())
  // Parts of a later version are what a killed run has left: it did not make its version.
  const present = folder.log?.version ?? -1
  const isUseless = (path: string) => !log.live.has(path) && (partVersion(path) ?? Infinity) > present
  removeParts(root, folder.files.filter(isUseless))
  await writeCheckpointIfDue(root, log)
  return unusedSince === undefined ? 0 : (await vacuum(root, log, unusedSince)).length
}

/**
 * Completes a lake of plain files. The log of a table that was turned into one goes after the new views and the manifest are there,
 * and the table's parts after the log: readers of the log see its last version until it is gone, all at once, and the views and the
 * manifest never name its parts.
 */
export async function finishPlain(
  folder: LakeFolder,
  { series, gone }: FinishedParts,
  files: RootFiles,
): Promise<void> {
  const { root, log } = folder
  if (log === undefined) removeParts(root, gone)
  await files.write(series)
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
