import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { refuseLinks } from '../fs/links.js'
import { isAbandoned, isFromThisHost, isTempName } from '../fs/temp-name.js'
import { findTempBeside, listFolder, statPath, TEMP_FOLDER } from './file-store.js'

/** A temp file of another machine (a mirror on a network disk) is leftover after this time. */
const FOREIGN_TEMP_MS = 60 * 60 * 1000

/**
 * Removes leftover temp files, one by one, and returns how many. Those beside files of the tree, on another disk, stay. Throws
 * `linked_path` for one that is reached through a link.
 */
export function sweepTemps(root: string, now: number): number {
  const paths = listTemps(root).filter(path => isLeftover(root, path, now))
  for (const path of paths) {
    refuseLinks(root, path)
    rmSync(join(root, path), { force: true })
  }
  return paths.length
}

/** The temp files in their folder, and beside the mirror's own files. A linked folder has none: nothing in it is the mirror's. */
function listTemps(root: string): string[] {
  const folder = join(root, TEMP_FOLDER)
  const names = statPath(folder)?.isDirectory() ? listFolder(folder).filter(isTempName) : []
  return [...names.map(name => `${TEMP_FOLDER}/${name}`), ...listFolder(root).filter(findTempBeside)]
}

/** Only a regular file is one that this program made. */
function isLeftover(root: string, path: string, now: number): boolean {
  const stats = statPath(join(root, path))
  if (!stats?.isFile()) return false
  const name = findTempBeside(basename(path)) ?? basename(path)
  return isFromThisHost(name) ? isAbandoned(name) : now - stats.mtimeMs > FOREIGN_TEMP_MS
}
