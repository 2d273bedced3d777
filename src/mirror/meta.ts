import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { parseObject } from '../candles/json.js'
import { errnoCode } from '../fs/errno.js'
import { readFile } from '../fs/files.js'
import { isSourceName } from '../sources/base-url.js'
import { toMirrorError } from './errors.js'
import { MAX_FILE_BYTES } from './file-store.js'

/** The file at a mirror's root that says which source it copies. */
export const META_FILE = 'mirror.json'

/** https://bford.info/cachedir/: backup tools skip such a folder. */
export const CACHE_TAG_FILE = 'CACHEDIR.TAG'
export const CACHE_TAG =
  'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of klines; it can be fetched again.\n'

/** The source that `root/mirror.json` names; undefined when the file is missing, and with a warning when it is damaged. */
export function readSource(root: string, warn: (warning: string) => void = () => {}): string | undefined {
  const path = join(root, META_FILE)
  try {
    const file = readFile(path, MAX_FILE_BYTES)
    // A file in the place of the root, or of a folder above it, is no mirror: only a folder's name may end so.
    if (file.state === 'missing' || !existsSync(root + sep)) return undefined
    const meta = file.state === 'file' ? parseObject(file.bytes.toString()) : undefined
    if (isSourceName(meta?.baseUrl)) return meta.baseUrl
  } catch (error) {
    if (errnoCode(error) !== '') throw toMirrorError(error, 'read', root)
  }
  warn(`${path} cannot be read. The mirror's source counts as unknown.`)
  return undefined
}
