import { lstatSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { knownStartDates } from '../klines/calendar.js'
import type { Interval } from '../klines/intervals.js'
import { parseStartDates } from '../klines/lists.js'
import type { TreeEntry } from '../klines/paths.js'
import { TEMP_FOLDER } from './files.js'
import { CACHE_TAG_FILE, type Mirror } from './mirror.js'
import { mirrorError } from './mirror-error.js'
import { META_FILE } from './mirror-meta.js'
import { leftoverTemps, treeFiles } from './tree-files.js'

/** What was removed from a mirror, or would be. */
export interface Removal {
  readonly mirror: string
  /** Relative to the mirror. */
  readonly paths: readonly string[]
  readonly bytes: number
  /** What lies outside through a link, and stays. */
  readonly outside: readonly string[]
}

/**
 * Removes temp files of dead processes and every file of the tree that no list names: strays, and windows whose start date
 * the list of their interval lacks. With `dryRun` only says what it would remove.
 */
export function pruneMirror(mirror: Mirror, { dryRun = false, now = Date.now() } = {}): Removal {
  const lists = new Map<Interval, ReadonlySet<string>>()
  const isNamed = (entry: TreeEntry | undefined) => {
    if (entry?.kind !== 'window') return entry !== undefined
    const { interval, startDate } = entry.window
    const list = lists.get(interval) ?? new Set(listedStartDates(mirror, interval))
    lists.set(interval, list)
    return list.has(startDate)
  }
  const unnamed = treeFiles(mirror.root).filter(({ entry }) => !isNamed(entry))
  return remove(mirror, [...unnamed.map(({ path }) => path), ...leftoverTemps(mirror.root, now)], dryRun)
}

/** Files at a mirror's root. */
const OWN_FILES = [META_FILE, CACHE_TAG_FILE]

/** What `clearMirror` would remove: everything that is the mirror's, and nothing else in its folder. */
export function mirrorContents(mirror: Mirror): Removal {
  return remove(
    mirror,
    [...treeFiles(mirror.root).map(({ path }) => path), ...OWN_FILES, ...leftoverTemps(mirror.root, Date.now())],
    true,
  )
}

/** Removes a mirror: its tree, its temp files, its own files; and its folder, if nothing else is in it. */
export function clearMirror(mirror: Mirror): Removal {
  const removal = remove(mirror, mirrorContents(mirror).paths, false)
  removeEmpty(join(mirror.root, TEMP_FOLDER))
  removeEmpty(mirror.root)
  return removal
}

/** Throws `mirror_unusable`; what was removed by then stays removed. */
function remove(mirror: Mirror, candidates: readonly string[], dryRun: boolean): Removal {
  const [paths, outside]: [string[], string[]] = [[], []]
  let bytes = 0
  for (const path of candidates) {
    const version = mirror.version(path)
    if (version === undefined) continue
    if (!mirror.contains(path)) outside.push(path)
    else {
      paths.push(path)
      bytes += version.size
      if (!dryRun) removeFile(mirror, path)
    }
  }
  return { mirror: mirror.root, paths, bytes, outside }
}

/** A link is removed, never what it points to; folders that are empty then go too. */
function removeFile({ root }: Mirror, path: string): void {
  try {
    rmSync(join(root, path), { recursive: true, force: true })
  } catch (error) {
    throw mirrorError(error, 'write', root)
  }
  for (let folder = dirname(path); folder !== '.' && removeEmpty(join(root, folder)); ) folder = dirname(folder)
}

/** Whether a folder was empty, and is gone. */
function removeEmpty(folder: string): boolean {
  try {
    if (!lstatSync(folder).isDirectory()) return false
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** The list that the mirror holds of an interval, else the one of this version. */
function listedStartDates(mirror: Mirror, interval: Interval): readonly string[] {
  const file = mirror.startDatesFile(interval)
  return file ? parseStartDates(file.bytes, interval) : knownStartDates(interval)
}
