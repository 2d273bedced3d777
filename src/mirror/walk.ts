import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { refuseLinks } from '../fs/links.js'
import { isLeftover, isTempName } from '../fs/temp-name.js'
import { findTempBeside, listFolder, TEMP_FOLDER } from './file-store.js'

/**
 * Removes leftover temp files, one by one, and returns how many. Those beside files of the tree, on another disk, stay. Throws
 * `linked_path` for one that is reached through a link.
 */
export function sweepTemps(root: string, now: number): number {
  const paths = listTemps(root).filter(path => isLeftover(join(root, path), now))
  for (const path of paths) {
    refuseLinks(root, path)
    rmSync(join(root, path), { force: true })
  }
  return paths.length
}

/** The temp files in their folder, and beside the mirror's own files. */
function listTemps(root: string): string[] {
  const names = listFolder(join(root, TEMP_FOLDER)).filter(isTempName)
  return [...names.map(name => `${TEMP_FOLDER}/${name}`), ...listFolder(root).filter(findTempBeside)]
}
