import { join } from 'node:path'
import envPaths from 'env-paths'

/**
 * Where the mirror of a base address lies when nobody says: one folder an address under the platform's cache folder,
 * such as `~/.cache/klines/finom.github.io_static-klines` (XDG_CACHE_HOME, ~/Library/Caches, %LOCALAPPDATA%).
 */
export function defaultMirrorRoot(baseUrl: string): string {
  // https://.. is an address too: a name of dots alone would lead out of the folder.
  const name = baseUrl
    .replace(/^https:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .replace(/^\.+/, '_')
  return join(envPaths('klines', { suffix: '' }).cache, name)
}
