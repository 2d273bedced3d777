import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { linkError } from '../fs/links.js'
import { KlinesError } from '../klines/errors.js'
import { SERIES_FOLDER, SERIES_FOLDERS } from './layout.js'
import { LOCK_FILE } from './lock/lock-file.js'
import { MANIFEST_FILE } from './manifest.js'
import { README_FILE } from './root/readme.js'
import { VIEWS_FILE } from './root/views.js'

/** The names of a lake's own files and folders in its root, beside those of its series. */
const ROOT_NAMES = [MANIFEST_FILE, LOCK_FILE, VIEWS_FILE, README_FILE]

/**
 * Checks the entries in the root of a lake where one of its files or folders belongs, and all in the folders of its series;
 * others in the root are somebody else's. Throws `linked_path` for a link, and `bad_output` for a file where a folder
 * belongs. To be called before anything is written.
 */
export function checkEntries(root: string): void {
  for (const entry of listEntries(root)) {
    if (ROOT_NAMES.includes(entry.name) || SERIES_FOLDER.test(entry.name)) checkEntry(root, entry.name, entry)
  }
}

function checkEntry(root: string, path: string, entry: Dirent): void {
  if (entry.isSymbolicLink()) throw linkError(root, path)
  if (entry.isDirectory()) {
    for (const child of listEntries(join(root, path))) checkEntry(root, `${path}/${child.name}`, child)
    return
  }
  if (!SERIES_FOLDERS.test(entry.name)) return
  throw new KlinesError('bad_output', `${join(root, path)} is a file. Expected a folder.`, {
    suggestions: ['Remove it, or put it elsewhere. Then run the same command again.'],
    data: { output: join(root, path) },
  })
}

/** The entries of a folder; none of one that cannot be listed, which whoever writes there finds out. */
function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
