import { join } from 'node:path'
import envPaths from 'env-paths'

/**
 * The default folder for the mirror of a base address: one for each address under the platform's cache folder, such as
 * `~/.cache/klines/finom.github.io_static-klines` (XDG_CACHE_HOME, ~/Library/Caches, %LOCALAPPDATA%).
 */
export function defaultMirrorRoot(baseUrl: string): string {
  // The host `..` is valid in a URL: a name of dots alone would leave the cache folder.
  const name = baseUrl
    .replace(/^https:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .replace(/^\.+/, '_')
  return join(envPaths('klines', { suffix: '' }).cache, name)
}
