import { lstatSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { startDatesPath, type TreeEntry } from '../klines/paths.js'
import { CHANGES_FILE } from './changes.js'
import { toMirrorError } from './errors.js'
import { listFolder, TEMP_FOLDER } from './file-store.js'
import { CACHE_TAG, CACHE_TAG_FILE, META_FILE } from './meta.js'
import type { Mirror } from './mirror.js'
import { RECORD_FILE } from './record.js'
import { listTreeFiles } from './walk.js'

/** The files removed from a mirror, or to be removed. */
export interface Removal {
  readonly mirror: string
  /** Relative to the mirror. */
  readonly paths: readonly string[]
  readonly bytes: number
}

/** What `pruneMirror` removes. */
export interface Pruning extends Removal {
  /** How many of the files are windows. */
  readonly windows: number
  /** How many are other files below `api/klines`, which klines did not write. */
  readonly strays: number
}

/**
 * Removes the temp files of dead processes, stray files, and windows whose startDate is not in the list of their interval, and
 * writes the record of the mirror anew where that makes it shorter. With `dryRun`, it only returns what it would remove. Throws
 * `mirror_unusable`, `linked_path`, and `bad_list` for a corrupt list.
 */
export function pruneMirror(mirror: Mirror, { dryRun = false, now = Date.now() } = {}): Pruning {
  const lists = new Map<Interval, ReadonlySet<string>>()
  const isListed = (entry: TreeEntry | undefined) => {
    if (entry?.kind !== 'window') return entry !== undefined
    const { interval, startDate } = entry.window
    const list = lists.get(interval) ?? new Set(listedStartDates(mirror, interval, now))
    lists.set(interval, list)
    return list.has(startDate)
  }
  const unlisted = listTreeFiles(mirror.root).filter(({ entry }) => !isListed(entry))
  const windows = new Set(unlisted.filter(({ entry }) => entry !== undefined).map(({ path }) => path))
  const strays = new Set(unlisted.filter(({ entry }) => entry === undefined).map(({ path }) => path))
  if (!dryRun && windows.size > 0) mirror.upkeep.giveUpCompleteness(now)
  const removal = remove(mirror, [...unlisted.map(({ path }) => path), ...mirror.upkeep.leftoverTemps(now)], dryRun)
  const removed = removal.paths.filter(path => windows.has(path))
  if (!dryRun)
    mirror.record.tidy(new Set([...removed.flatMap(path => [path, dirname(path)]), ...findLostSeries(mirror)]))
  return { ...removal, windows: removed.length, strays: removal.paths.filter(path => strays.has(path)).length }
}

/** The folders of recorded series without a file: whoever prunes does not miss them. */
function findLostSeries({ root, record }: Mirror): string[] {
  return [...record.allCandles.keys()].filter(folder => listFolder(join(root, folder)).length === 0)
}

/**
 * Returns what `clearMirror` would remove: all files below `api/klines` and the mirror's own ones, not others in its folder. Throws
 * `mirror_unusable`.
 */
export function planClear(mirror: Mirror): Removal {
  const tree = listTreeFiles(mirror.root).map(({ path }) => path)
  return remove(mirror, [...tree, ...mirror.upkeep.leftoverTemps(Date.now()), ...ownFiles(mirror)], true)
}

/** Removes a mirror: its tree, its temp files, its own files, and its folder if that is empty then. Throws as `planClear` does. */
export function clearMirror(mirror: Mirror): Removal {
  const { paths } = planClear(mirror)
  mirror.upkeep.giveUpCompleteness(Date.now())
  const removal = remove(mirror, paths, false)
  removeEmptyBelow(join(mirror.root, 'api'), 'klines')
  for (const folder of ['api', TEMP_FOLDER, '']) removeEmpty(join(mirror.root, folder))
  return removal
}

/** The mirror's own files at its root; the cache tag and `changes.jsonl` may be another program's. */
function ownFiles(mirror: Mirror): string[] {
  const tag = mirror.files.read(CACHE_TAG_FILE)
  const isTagged = tag.state === 'file' && tag.bytes.toString() === CACHE_TAG
  const changes = mirror.changes.isOwn ? [CHANGES_FILE] : []
  return [RECORD_FILE, ...changes, META_FILE, ...(isTagged ? [CACHE_TAG_FILE] : [])]
}

/** Throws `mirror_unusable`; files removed before stay removed. */
function remove(mirror: Mirror, candidates: readonly string[], dryRun: boolean): Removal {
  const paths: string[] = []
  let bytes = 0
  for (const path of candidates) {
    const version = mirror.files.version(path)
    if (version === undefined) continue
    paths.push(path)
    bytes += version.size
    if (!dryRun) removeFile(mirror, path)
  }
  return { mirror: mirror.root, paths, bytes }
}

/** Removes a file, or a folder in its place, and the folders that are empty then; of a stray link, never what it names. */
function removeFile({ root }: Mirror, path: string): void {
  const file = join(root, path)
  try {
    if (path.includes('/')) refuseLinks(root, dirname(path))
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true, force: true })
    else unlinkSync(file)
  } catch (error) {
    // Another process may have removed it meanwhile.
    if (errnoCode(error) !== 'ENOENT') throw toMirrorError(error, 'write', root)
  }
  for (let folder = dirname(path); folder !== '.' && removeEmpty(join(root, folder)); ) folder = dirname(folder)
}

/** Removes the folder `name` and its subfolders if they contain no files. */
function removeEmptyBelow(parent: string, name: string): void {
  const folder = join(parent, name)
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  for (const child of listFolder(folder)) removeEmptyBelow(folder, child)
  removeEmpty(folder)
}

/** Removes a folder if it is empty; returns whether it did. */
function removeEmpty(folder: string): boolean {
  try {
    if (!lstatSync(folder).isDirectory()) return false
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** The cached startDates of an interval, or those of this version. Throws `bad_list` when the cached list is corrupt. */
function listedStartDates(mirror: Mirror, interval: Interval, now: number): readonly string[] {
  try {
    return mirror.contents.listedStartDates(interval) ?? mirror.rules.startDates(interval, now)
  } catch (cause) {
    if (!isKlinesError(cause, 'bad_list')) throw cause
    const path = startDatesPath(interval)
    const message = `${path} does not say which windows there are, so nothing is removed. ${cause.message}`
    throw new KlinesError('bad_list', message, {
      cause,
      suggestions: ['klines mirror verify --repair fetches it again.'],
      data: { mirror: mirror.root, path },
    })
  }
}
