import { join } from 'node:path'
import { KlinesError } from '../klines/errors.js'
import { mirrorError } from './errors.js'
import { readFile } from './file-store.js'

/** Layout of a mirror's folder; a later one would get another number. */
const LAYOUT = 1

/** The file at a mirror's root that says what it is a mirror of. */
export const META_FILE = 'mirror.json'

/** What `mirror.json` says. */
export interface MirrorMeta {
  readonly layout: number
  /** The one base address this mirror is a copy of. */
  readonly baseUrl: string
  /** Whether every window that exists is here, so that an absent one is empty. */
  readonly complete: boolean
}

/** The bytes of `mirror.json` for a new mirror of `baseUrl`. */
export function encodeMeta(baseUrl: string): Buffer {
  const meta: MirrorMeta = { layout: LAYOUT, baseUrl, complete: false }
  return Buffer.from(`${JSON.stringify(meta, null, 2)}\n`)
}

/** What `root/mirror.json` says; undefined where there is none. Throws `mirror_mismatch` when it is not ours to read. */
export function readMeta(root: string): MirrorMeta | undefined {
  const path = join(root, META_FILE)
  let meta: Partial<MirrorMeta>
  try {
    // Not by a plain read: that would wait at a FIFO for ever.
    const file = readFile(path)
    if (file.state === 'missing') return undefined
    if (file.state === 'not_regular') throw new SyntaxError('not a regular file')
    meta = JSON.parse(file.bytes.toString())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw mirrorError(error, 'read', root)
    throw new KlinesError('mirror_mismatch', `${path} cannot be read as JSON.`, {
      cause: error,
      suggestions: [`Remove it if ${root} is a mirror of yours.`],
    })
  }
  if (meta?.layout !== LAYOUT || typeof meta.baseUrl !== 'string') {
    const message = `${path} is of layout ${meta?.layout}; this version reads layout ${LAYOUT}.`
    throw new KlinesError('mirror_mismatch', message, { suggestions: ['Name another folder with `mirror`.'] })
  }
  return { layout: LAYOUT, baseUrl: meta.baseUrl, complete: meta.complete === true }
}
