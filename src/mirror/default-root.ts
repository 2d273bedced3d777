import { join } from 'node:path'
import { findUserFolder } from '../fs/user-folder.js'
import { KlinesError } from '../klines/errors.js'

/**
 * The default folder for the mirror of a base address: one for each address under the platform's cache folder, such as
 * `~/.cache/klines/finom.github.io_static-klines` (XDG_CACHE_HOME, ~/Library/Caches, %LOCALAPPDATA%).
 * Throws `bad_option` for a user without a home folder.
 */
export function defaultMirrorRoot(baseUrl: string): string {
  // The host `..` is valid in a URL: a name of dots alone would leave the cache folder.
  const name = baseUrl
    .replace(/^https:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .replace(/^\.+/, '_')
  const folder = findUserFolder('cache')
  if (folder !== undefined) return join(folder, name)
  throw new KlinesError('bad_option', 'The default mirror lies in the home folder, and this user has none.', {
    suggestions: ['Set HOME to the path of a folder, or name a folder with `mirror`.'],
  })
}
