import { rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { endedMaker } from '../export/output/temp.js'
import { findFiles, PART_FILE } from './layout.js'
import { LOCK_FILE } from './lock.js'
import { MANIFEST_FILE } from './manifest.js'
import { README_FILE } from './readme.js'
import { VIEWS_FILE } from './views.js'

/** The files that a run writes by way of a temp file. */
const TEMP_TARGETS = [PART_FILE, MANIFEST_FILE, LOCK_FILE, VIEWS_FILE, README_FILE]

/** Removes the temp files of processes that have ended. Never throws. */
export function removeLeftovers(root: string): void {
  for (const path of findFiles(root)) {
    const hasEnded = TEMP_TARGETS.some(target => endedMaker(basename(path), target) !== undefined)
    if (hasEnded) rmSync(join(root, path), { force: true })
  }
}

/** Removes parts, and the folders that are empty then. Throws `output_unwritable`. */
export function removeParts(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmSync(join(root, path), { force: true })
    } catch (error) {
      throw outputError(error, join(root, path))
    }
    try {
      for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) rmdirSync(join(root, folder))
    } catch {
      // Something else is in it.
    }
  }
}
