import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmdirSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { errnoCode } from './errno.js'
import { findTarget } from './links.js'

/**
 * Makes a folder and its parents where they are missing. Node's own `mkdir` with `recursive` never returns in a working folder that was
 * removed: there, a folder that exists answers ENOENT.
 */
export function makeFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (isThere()) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (errnoCode(error) !== 'EEXIST' || !isThere()) throw error
  }
}

/** Throws what the file system throws when nothing can be created in a folder, or where a missing one would be. */
export function checkWritableFolder(path: string): void {
  const folder = dirname(missingFolders(path).at(-1) ?? join(path, '-'))
  // With a separator at its end, a file is not taken for a folder.
  accessSync(folder + sep, constants.W_OK | constants.X_OK)
}

/** A folder and its parents, as far as they are missing, the deepest one first: what a run makes for an output. */
export function missingFolders(path: string): string[] {
  if (existsSync(path) || dirname(path) === path) return []
  return [path, ...missingFolders(dirname(path))]
}

/** Removes folders as far as they are empty. Never throws. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder)
    } catch {
      // It was not made, or something is in it.
    }
  }
}

/**
 * Throws `linked_path` when `path` (relative to `root`, with slashes) is a link to a file, as to a store of DVC or git-annex, or a link below
 * `root` leads it out: with a copied folder nothing is written elsewhere. Links at or above `root`, which the user named, are followed.
 */
export function checkInside(root: string, path: string): void {
  let link = root
  for (const name of path.split('/')) {
    link = join(link, name)
    const target = findTarget(link)
    if (target === undefined) continue
    const isFolder = existsSync(`${link}${sep}.`)
    if (isFolder && realpathSync.native(link).startsWith(join(realpathSync.native(root), sep))) continue
    const message = `${link} is a link. Below ${root}, nothing is written, replaced or removed through a link.`
    const advice = `Remove the link, or put what it names, ${target}, into its place. Then run the same command again.`
    throw new KlinesError('linked_path', message, { suggestions: [advice], data: { link } })
  }
}

/** A path in which a leading `~` stands for the home folder, as in a shell. */
export function expandHome(path: string): string {
  return /^~($|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path
}

/** By convention the home of a user who has none: no folder of this name may exist. */
export const NO_HOME = '/nonexistent'

/** Where a platform keeps the files of programs: a variable, the folder below the home, and ours in it. */
const USER_FOLDERS: Readonly<Record<string, Record<'cache' | 'config', readonly [string, string, string]>>> = {
  linux: { cache: ['XDG_CACHE_HOME', '.cache', 'klines'], config: ['XDG_CONFIG_HOME', '.config', 'klines'] },
  darwin: { cache: ['', 'Library/Caches', 'klines'], config: ['', 'Library/Preferences', 'klines'] },
  win32: {
    cache: ['LOCALAPPDATA', 'AppData/Local', 'klines/Cache'],
    config: ['APPDATA', 'AppData/Roaming', 'klines/Config'],
  },
}

/**
 * The user's folder of this program for what can be downloaded again, or for settings; undefined for a user without a home. As the XDG
 * specification demands, a path that is not absolute is ignored.
 */
export function findUserFolder(kind: 'cache' | 'config'): string | undefined {
  const [variable, belowHome, own] = (USER_FOLDERS[process.platform] ?? USER_FOLDERS.linux)[kind]
  const named = process.env[variable]
  if (named && isAbsolute(named)) return join(named, own)
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const home = find()
      if (isAbsolute(home)) return home === NO_HOME ? undefined : join(home, belowHome, own)
    } catch {
      // The system does not know this user.
    }
  }
  return undefined
}
