import { lstatSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { parseStartDates } from '../klines/lists.js'
import { startDatesPath, type TreeEntry } from '../klines/paths.js'
import { knownStartDates } from '../klines/windows.js'
import { mirrorError } from './errors.js'
import { listFolder, TEMP_FOLDER } from './file-store.js'
import { META_FILE } from './meta.js'
import { CACHE_TAG, CACHE_TAG_FILE, type Mirror } from './mirror.js'
import { leftoverTemps, treeFiles } from './walk.js'

/** What was removed from a mirror, or would be. */
export interface Removal {
  readonly mirror: string
  /** Relative to the mirror. */
  readonly paths: readonly string[]
  readonly bytes: number
  /** What is reached through a link, and stays. */
  readonly outside: readonly string[]
}

/**
 * Removes temp files of dead processes and every file of the tree that no list names: strays, and windows whose start date
 * the list of their interval lacks. With `dryRun` only says what it would remove. Throws `bad_list` before anything is
 * removed when a list is broken, and `mirror_unusable`.
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

/** What `clearMirror` would remove: everything that is the mirror's, and nothing else in its folder. */
export function mirrorContents(mirror: Mirror): Removal {
  const tree = treeFiles(mirror.root).map(({ path }) => path)
  return remove(mirror, [...tree, ...ownFiles(mirror), ...leftoverTemps(mirror.root, Date.now())], true)
}

/** Removes a mirror: its tree, its temp files, its own files; and its folder, if nothing else is in it. */
export function clearMirror(mirror: Mirror): Removal {
  const { paths, outside } = mirrorContents(mirror)
  const removal = { ...remove(mirror, paths, false), outside }
  removeEmptyBelow(join(mirror.root, 'api'), 'klines')
  for (const folder of ['api', TEMP_FOLDER, '']) removeEmpty(join(mirror.root, folder))
  return removal
}

/** The files at a mirror's root that are its own; another program may have tagged the folder as a cache of its own. */
function ownFiles(mirror: Mirror): string[] {
  const tag = mirror.readBytes(CACHE_TAG_FILE)
  const isTagged = tag.state === 'file' && tag.bytes.toString() === CACHE_TAG
  return isTagged ? [META_FILE, CACHE_TAG_FILE] : [META_FILE]
}

/** Throws `mirror_unusable`; what was removed by then stays removed. */
function remove(mirror: Mirror, candidates: readonly string[], dryRun: boolean): Removal {
  const [paths, outside]: [string[], string[]] = [[], []]
  let bytes = 0
  for (const path of candidates) {
    const version = mirror.version(path)
    if (version === undefined) continue
    if (isThroughLink(mirror, path)) outside.push(path)
    else {
      paths.push(path)
      bytes += version.size
      if (!dryRun) removeFile(mirror, path)
    }
  }
  return { mirror: mirror.root, paths, bytes, outside }
}

/** Whether a file is reached through a link below the root: it may be anybody's then, also inside of the mirror's folder. */
function isThroughLink({ root }: Mirror, path: string): boolean {
  try {
    return realpathSync.native(dirname(join(root, path))) !== join(realpathSync.native(root), dirname(path))
  } catch {
    return true
  }
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

/** Removes a folder that holds nothing but folders of the kind. */
function removeEmptyBelow(parent: string, name: string): void {
  const folder = join(parent, name)
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  for (const child of listFolder(folder)) removeEmptyBelow(folder, child)
  removeEmpty(folder)
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

/** The list that the mirror holds of an interval, else the one of this version. Throws `bad_list` when it is broken. */
function listedStartDates(mirror: Mirror, interval: Interval): readonly string[] {
  const path = startDatesPath(interval)
  const file = mirror.readBytes(path)
  if (file.state === 'missing') return knownStartDates(interval)
  try {
    if (file.state === 'not_regular') throw new KlinesError('bad_list', 'It is not a regular file.')
    return parseStartDates(file.bytes, interval)
  } catch (cause) {
    if (!isKlinesError(cause, 'bad_list')) throw cause
    const message = `${path} does not say which windows there are, so nothing is removed. ${cause.message}`
    throw new KlinesError('bad_list', message, {
      cause,
      suggestions: ['klines mirror verify --repair fetches it again.'],
      data: { mirror: mirror.root, path },
    })
  }
}
