import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { linkError, refuseLinks } from '../fs/links.js'
import { EXCHANGE_INTERVALS, type Interval } from '../klines/intervals.js'
import { intervalPath, parseTreePath, SYMBOLS_PATH, startDatesPath } from '../klines/paths.js'
import { isSymbol, type SymbolName } from '../klines/symbols.js'
import { CHANGES_FILE } from './changes.js'
import { TEMP_FOLDER } from './file-store.js'
import { CACHE_TAG_FILE, META_FILE } from './meta.js'

/** The files and folders of a mirror that any run may write. */
const COMMON_PATHS = [
  META_FILE,
  CACHE_TAG_FILE,
  CHANGES_FILE,
  TEMP_FOLDER,
  SYMBOLS_PATH,
  ...EXCHANGE_INTERVALS.map(startDatesPath),
]

/** The series that a run may write. */
export interface WrittenSeries {
  readonly intervals: readonly Interval[]
  readonly isWritten: (symbol: SymbolName) => boolean
}

/** For a run that may write any file. */
export const ALL_SERIES: WrittenSeries = { intervals: EXCHANGE_INTERVALS, isWritten: () => true }

/**
 * Throws `linked_path` for a link below the root of a mirror, where a run might write or remove something: at the mirror's own
 * files, its lists and its folder of temp files, and at the folders and windows of `series`. To be called before anything is
 * written. Readers follow links to folders, because a mirror may span several disks.
 */
export function refuseMirrorLinks(root: string, series?: WrittenSeries): void {
  for (const path of COMMON_PATHS) refuseLinks(root, path)
  for (const interval of series?.intervals ?? []) {
    const folder = intervalPath(interval)
    refuseLinks(root, folder)
    for (const { name } of listEntries(root, folder)) {
      if (isSymbol(name) && series?.isWritten(name)) refuseLinkedSeries(root, `${folder}/${name}`)
    }
  }
}

/** A series has up to 3,500 windows: the folder says which are links. */
function refuseLinkedSeries(root: string, folder: string): void {
  refuseLinks(root, folder)
  for (const entry of listEntries(root, folder)) {
    const path = `${folder}/${entry.name}`
    if (entry.isSymbolicLink() && parseTreePath(path)) throw linkError(root, path)
  }
}

/** The entries of a folder; none of one that cannot be listed, which whoever writes there finds out. */
function listEntries(root: string, folder: string) {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true })
  } catch {
    return []
  }
}
