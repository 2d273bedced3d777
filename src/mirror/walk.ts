import { type Dirent, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import { isAbandoned, isFromThisHost, isTempName } from '../fs/temp-name.js'
import { parseTreePath, type TreeEntry } from '../klines/paths.js'
import { toMirrorError } from './errors.js'
import { findTempBeside, listFolder, statPath, TEMP_FOLDER } from './file-store.js'

/** A file below a mirror's `api/klines`. */
export interface TreeFile {
  /** Relative to the root, with slashes. */
  readonly path: string
  /** Parsed from the path; undefined for a file that does not belong to the tree. */
  readonly entry: TreeEntry | undefined
}

/**
 * Lists every file below `api/klines` of a mirror but temp files, sorted by path. A folder with the path of a file counts as
 * that file. Links are not followed. Throws `mirror_unusable`.
 */
export function listTreeFiles(root: string, folder = 'api/klines'): TreeFile[] {
  return listEntries(root, folder).flatMap(dirent => {
    if (isTemp(dirent)) return []
    const path = `${folder}/${dirent.name}`
    const entry = parseTreePath(path)
    return entry === undefined && dirent.isDirectory() ? listTreeFiles(root, path) : [{ path, entry }]
  })
}

/** Lists the temp files below `api/klines` of a mirror, of running processes too; links are not followed. */
function listTreeTemps(root: string, folder = 'api/klines'): string[] {
  return listEntries(root, folder).flatMap(dirent => {
    const path = `${folder}/${dirent.name}`
    if (isTemp(dirent)) return [path]
    return dirent.isDirectory() ? listTreeTemps(root, path) : []
  })
}

function isTemp(dirent: Dirent): boolean {
  return dirent.isFile() && findTempBeside(dirent.name) !== undefined
}

function listEntries(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw toMirrorError(error, 'read', root)
  }
}

/** A temp file of another machine (a mirror on a network disk) is leftover after this time. */
const FOREIGN_TEMP_MS = 60 * 60 * 1000

/** The temp files of a mirror that their processes can no longer finish, relative to the root. Links are not followed. */
export function findLeftoverTemps(root: string, now: number): string[] {
  return [...listTemps(root), ...listTreeTemps(root)].filter(path => isLeftover(root, path, now))
}

/**
 * Removes leftover temp files and returns how many. Those beside files of the tree stay, because finding them takes a walk through
 * all of it: they are rare, and `pruneMirror` removes them.
 */
export function sweepTemps(root: string, now: number): number {
  const paths = listTemps(root).filter(path => isLeftover(root, path, now))
  removeTemps(root, paths)
  return paths.length
}

/** Removes files one by one. Throws `linked_path`. */
export function removeTemps(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    refuseLinks(root, path)
    rmSync(join(root, path), { force: true })
  }
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
