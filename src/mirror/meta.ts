import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { readFile } from '../fs/read-file.js'
import { isSourceName } from '../http/base-url.js'
import { KlinesError } from '../klines/errors.js'
import { findRules } from '../trees/find-rules.js'
import { toMirrorError } from './errors.js'
import { MAX_FILE_BYTES } from './file-store.js'

/** The versions of a mirror's folder layout that this version reads. */
const LAYOUTS = [1, 2]

/** The file at a mirror's root that describes it. */
export const META_FILE = 'mirror.json'

/** https://bford.info/cachedir/: backup tools skip such a folder. */
export const CACHE_TAG_FILE = 'CACHEDIR.TAG'
export const CACHE_TAG =
  'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of klines; it can be fetched again.\n'

/** The contents of `mirror.json`. */
export interface MirrorMeta {
  readonly layout: number
  /** The base address that this mirror copies. */
  readonly baseUrl: string
}

/** Encodes `mirror.json` for a mirror of `baseUrl`. */
export function encodeMeta(baseUrl: string): Buffer {
  const meta: MirrorMeta = { layout: findRules(baseUrl).layout, baseUrl }
  return Buffer.from(`${JSON.stringify(meta, null, 2)}\n`)
}

/**
 * Reads `root/mirror.json`; undefined when it is missing, and with a warning when a power cut or another program has damaged it.
 * Throws `mirror_mismatch` for the layout of another version, and `mirror_unusable`.
 */
export function readMeta(root: string, warn: (warning: string) => void = () => {}): MirrorMeta | undefined {
  const path = join(root, META_FILE)
  const unreadable = (reason: string): undefined =>
    void warn(`${path} cannot be read: ${reason}. The source of the mirror counts as unknown.`)
  let meta: Partial<MirrorMeta> | null
  try {
    const file = readFile(path, MAX_FILE_BYTES)
    // A file in the place of the root, or of a folder above it, is no mirror: only a folder's name may end so.
    if (file.state === 'missing' || !existsSync(root + sep)) return undefined
    if (file.state === 'corrupt') return unreadable(`it is ${file.reason}`)
    meta = JSON.parse(file.bytes.toString())
  } catch (error) {
    if (errnoCode(error) !== '') throw toMirrorError(error, 'read', root)
    return unreadable('it is not JSON')
  }
  if (typeof meta?.layout !== 'number') return unreadable('it has no layout')
  if (!LAYOUTS.includes(meta.layout)) {
    const message = `${path} is of layout ${meta.layout}; this version reads layouts ${LAYOUTS.join(' and ')}.`
    throw new KlinesError('mirror_mismatch', message, { suggestions: ['Name another folder with `mirror`.'] })
  }
  const { layout, baseUrl } = meta
  if (!isSourceName(baseUrl)) return unreadable('its base address is not valid')
  return { layout, baseUrl }
}
