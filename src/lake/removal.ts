import { rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { isTempOf } from '../export/output/temp.js'
import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import { isLeftover } from '../fs/temp-name.js'
import { findFiles, PART_FILE } from './layout.js'
import { MANIFEST_FILE } from './manifest.js'
import { README_FILE } from './root/readme.js'
import { VIEWS_FILE } from './root/views.js'

/** The files that a run writes by way of a temp file. */
const TEMP_TARGETS = [PART_FILE, MANIFEST_FILE, VIEWS_FILE, README_FILE]

/** Removes the temp files that killed runs have left. */
export function removeLeftovers(root: string): void {
  for (const path of findFiles(root)) {
    const name = basename(path)
    const isTemp = TEMP_TARGETS.some(target => isTempOf(name, target))
    if (isTemp && isLeftover(join(root, path))) rmSync(join(root, path), { force: true })
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
