import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseTreePath, type TreeEntry } from '../klines/paths.js'
import { isLeftover, listFolder, TEMP_FOLDER } from './files.js'

/** A file below a mirror's `api/klines`. */
export interface TreeFile {
  /** Relative to the root, with slashes. */
  readonly path: string
  /** What it is by its name; undefined for one that no path of the tree names. */
  readonly entry: TreeEntry | undefined
}

/** Every file below `api/klines` of a mirror, sorted by path. A folder in the place of a file counts as that file. */
export function treeFiles(root: string, folder = 'api/klines'): TreeFile[] {
  return entriesOf(join(root, folder)).flatMap(dirent => {
    const path = `${folder}/${dirent.name}`
    const entry = parseTreePath(path)
    return entry === undefined && isFolder(root, path, dirent) ? treeFiles(root, path) : [{ path, entry }]
  })
}

/** Temp files of a mirror that dead processes left, relative to the root. */
export function leftoverTemps(root: string, now: number): string[] {
  return listFolder(join(root, TEMP_FOLDER))
    .filter(name => isLeftover(join(root, TEMP_FOLDER, name), name, now))
    .map(name => `${TEMP_FOLDER}/${name}`)
}

function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A linked folder is followed: a mirror may lie on several disks. */
function isFolder(root: string, path: string, dirent: Dirent): boolean {
  if (!dirent.isSymbolicLink()) return dirent.isDirectory()
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false
}
