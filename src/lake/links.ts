import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { linkError } from '../fs/links.js'
import { LOG_FOLDER } from './delta/actions.js'
import { SERIES_FOLDER } from './layout.js'
import { LOCK_FILE } from './lock/lock-file.js'
import { MANIFEST_FILE } from './manifest.js'
import { README_FILE } from './root/readme.js'
import { VIEWS_FILE } from './root/views.js'

const ROOT_NAMES = [MANIFEST_FILE, LOCK_FILE, VIEWS_FILE, README_FILE, LOG_FOLDER]

/**
 * Throws `linked_path` for a link in the root of a lake where one of its files or folders belongs, and for any link in the folders
 * of its series and of its log. Other links in the root are somebody else's. To be called before anything is written.
 */
export function refuseLakeLinks(root: string): void {
  for (const entry of listEntries(root)) {
    if (!ROOT_NAMES.includes(entry.name) && !SERIES_FOLDER.test(entry.name)) continue
    refuseLinksBelow(root, entry.name, entry)
  }
}

function refuseLinksBelow(root: string, path: string, entry: Dirent): void {
  if (entry.isSymbolicLink()) throw linkError(root, path)
  if (!entry.isDirectory()) return
  for (const child of listEntries(join(root, path))) refuseLinksBelow(root, `${path}/${child.name}`, child)
}

/** The entries of a folder; none of one that cannot be listed, which whoever writes there finds out. */
function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
