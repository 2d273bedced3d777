import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { KlinesError } from '../klines/errors.js'
import { errnoCode } from './errno.js'

/**
 * Throws `linked_path` when `path` (relative to `root`, with slashes) is a link, also one to nothing, or is reached through one:
 * a folder that a stranger made must not say where files are written or removed. Links at or above `root`, which the user named,
 * are followed. What is missing, and what is below it, is no link.
 *
 * It protects from a folder as it was copied or cloned, not from a program that changes the folder meanwhile: between this check
 * and the write, a folder may become a link. Temp files are opened with O_EXCL, which follows none, and the rename that puts them
 * into their place replaces a name. Nothing is remembered from one file to the next: a user may replace a folder by a link while
 * a server runs, and five levels take 16 µs of processor time, where writing a window takes 100 and its request more.
 */
export function refuseLinks(root: string, path: string): void {
  let found = ''
  for (const name of path.split('/')) {
    found = found === '' ? name : `${found}/${name}`
    const stats = findStats(join(root, found))
    if (stats?.isSymbolicLink()) throw linkError(root, found)
    if (!stats?.isDirectory()) return
  }
}

/** The error for a link at `path`, relative to `root`. */
export function linkError(root: string, path: string): KlinesError {
  const link = join(root, path)
  const message = `${link} is a link. Below ${root}, nothing is written, replaced or removed through a link.`
  return new KlinesError('linked_path', message, {
    suggestions: ['Remove the link, or put what it names into its place. Then run the same command again.'],
    data: { link },
  })
}

/** What cannot be looked at cannot be written either: that error says more. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOTDIR' || code === 'EACCES') return undefined
    throw error
  }
}
