import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { isLeftOf, isTempOf, tempPath } from '../export/output/temp.js'
import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import { LOG_FOLDER } from './delta/actions.js'
import { LAST_CHECKPOINT } from './delta/checkpoint.js'
import { findFiles, PART_FILE } from './layout.js'
import { LOCK_FILE } from './lock/lock-file.js'
import { MANIFEST_FILE } from './manifest.js'
import { README_FILE } from './root/readme.js'
import { VIEWS_FILE } from './root/views.js'

/** The files that a run writes by way of a temp file. */
const TEMP_TARGETS = [PART_FILE, MANIFEST_FILE, LOCK_FILE, VIEWS_FILE, README_FILE, basename(LAST_CHECKPOINT)]
/** Temp files of those that a version of a Delta table has. A part has a longer name than what is left of it here. */
const VERSIONED = /^\.(part-\d{20}(?:\.parquet|-[0-9a-f-]{24})|\d{20}\.json|\d{20}\.checkpoint\.parquet)\./

/**
 * Removes the temp files of processes that have ended: whoever has the lock is the only one that writes a lake, so that those of other
 * machines and containers are useless too, except those of locks.
 */
export function removeLeftovers(root: string): void {
  const logFiles = existsSync(join(root, LOG_FOLDER)) ? findFiles(root, LOG_FOLDER) : []
  for (const path of [...findFiles(root), ...logFiles]) {
    const [, versioned] = VERSIONED.exec(basename(path)) ?? []
    const targets = versioned === undefined ? TEMP_TARGETS : [versioned]
    const isUseless = targets.some(target =>
      target === LOCK_FILE ? isLeftOf(basename(path), target) : isTempOf(basename(path), target),
    )
    if (isUseless) rmSync(join(root, path), { force: true })
  }
  for (const name of readdirSync(root)) if (isLeftOf(name, LOG_FOLDER)) removeLogFiles(join(root, name))
}

/** Removes a log that a killed run has put aside: its files one by one, and the folder when it is empty then. */
function removeLogFiles(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile()) rmSync(join(folder, entry.name), { force: true })
  }
  try {
    rmdirSync(folder)
  } catch {
    // Something else is in it.
  }
}

/** Removes parts, and the folders that are empty then. Throws `linked_path` for one that a link leads to, and `output_unwritable`. */
export function removeParts(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      refuseLinks(root, path)
      rmSync(join(root, path), { force: true })
    } catch (error) {
      throw outputError(error, join(root, path))
    }
    removeEmptyFolders(root, path)
  }
}

/** Removes the folders of a part as far as they are empty. Never throws. */
export function removeEmptyFolders(root: string, path: string): void {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder))
    } catch (error) {
      // Another part's end may have removed it. Otherwise, something else is in it.
      if (errnoCode(error) !== 'ENOENT') return
    }
  }
}

/** Removes the log of a Delta table: all of it or, when it fails, nothing that a reader sees. Throws `output_unwritable`. */
export function removeLog(root: string): void {
  const folder = join(root, LOG_FOLDER)
  const away = tempPath(folder)
  try {
    refuseLinks(root, LOG_FOLDER)
    renameSync(folder, away)
    rmSync(away, { recursive: true, force: true })
  } catch (error) {
    throw outputError(error, folder)
  }
}
