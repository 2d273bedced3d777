import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isInterval } from '../klines/intervals.js'
import { parseTreePath, type TreeEntry } from '../klines/paths.js'
import { isSymbol } from '../klines/symbols.js'
import { mirrorError } from './errors.js'
import { isLeftover, listFolder, TEMP_FOLDER } from './file-store.js'

/** A file below a mirror's `api/klines`. */
export interface TreeFile {
  /** Relative to the root, with slashes. */
  readonly path: string
  /** What it is by its name; undefined for one that no path of the tree names. */
  readonly entry: TreeEntry | undefined
}

/**
 * Every file below `api/klines` of a mirror, sorted by path. A folder in the place of a file counts as that file. Throws
 * `mirror_unusable`.
 */
export function treeFiles(root: string, folder = 'api/klines'): TreeFile[] {
  return listEntries(root, folder).flatMap(dirent => {
    const path = `${folder}/${dirent.name}`
    const entry = parseTreePath(path)
    return entry === undefined && isFolder(root, path, dirent) ? treeFiles(root, path) : [{ path, entry }]
  })
}

/** Temp files of a mirror that dead processes left, relative to the root. Throws `mirror_unusable`. */
export function leftoverTemps(root: string, now: number): string[] {
  try {
    return listFolder(join(root, TEMP_FOLDER))
      .filter(name => isLeftover(join(root, TEMP_FOLDER, name), name, now))
      .map(name => `${TEMP_FOLDER}/${name}`)
  } catch (error) {
    throw mirrorError(error, 'read', root)
  }
}

function listEntries(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw mirrorError(error, 'read', root)
  }
}

/**
 * A linked folder is followed where the tree has a folder of that name: a mirror may lie on several disks. Any other link
 * counts as a file: it may lead in a circle, or to all of the disk.
 */
function isFolder(root: string, path: string, dirent: Dirent): boolean {
  if (!dirent.isSymbolicLink()) return dirent.isDirectory()
  const [interval, symbol, ...rest] = path.split('/').slice(2)
  const isOfTheTree = interval === 'start-dates' ? symbol === undefined : isInterval(interval)
  if (!isOfTheTree || rest.length > 0 || (symbol !== undefined && !isSymbol(symbol))) return false
  try {
    return statSync(join(root, path)).isDirectory()
  } catch {
    return false
  }
}
