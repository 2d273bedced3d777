import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { isInterval } from '../klines/intervals.js'
import { parseIntervalSegment, parseTreePath, type TreeEntry } from '../klines/paths.js'
import { isSymbol } from '../klines/symbols.js'
import { toMirrorError } from './errors.js'
import { findTempBeside } from './file-store.js'

/** A file below a mirror's `api/klines`. */
export interface TreeFile {
  /** Relative to the root, with slashes. */
  readonly path: string
  /** Parsed from the path; undefined for a file that does not belong to the tree. */
  readonly entry: TreeEntry | undefined
}

/**
 * Lists every file below `api/klines` of a mirror but temp files, sorted by path. A folder with the path of a file counts as
 * that file. Throws `mirror_unusable`.
 */
export function listTreeFiles(root: string, folder = 'api/klines'): TreeFile[] {
  return listEntries(root, folder).flatMap(dirent => {
    if (isTemp(dirent)) return []
    const path = `${folder}/${dirent.name}`
    const entry = parseTreePath(path)
    return entry === undefined && isFolder(root, path, dirent) ? listTreeFiles(root, path) : [{ path, entry }]
  })
}

/** Lists the temp files below `api/klines` of a mirror, of running processes too; links are not followed. */
export function listTreeTemps(root: string, folder = 'api/klines'): string[] {
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

/**
 * Follows links only where the tree has a folder: a mirror may span several disks. Any other link counts as a file, because
 * it may lead in a circle or to the whole disk.
 */
function isFolder(root: string, path: string, dirent: Dirent): boolean {
  if (!dirent.isSymbolicLink()) return dirent.isDirectory()
  const [interval, symbol, ...rest] = path.split('/').slice(2)
  const isTreeFolder = interval === 'start-dates' ? symbol === undefined : isInterval(parseIntervalSegment(interval))
  if (!isTreeFolder || rest.length > 0 || (symbol !== undefined && !isSymbol(symbol))) return false
  try {
    return statSync(join(root, path)).isDirectory()
  } catch {
    return false
  }
}
