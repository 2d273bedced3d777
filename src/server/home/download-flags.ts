import { isAbsolute, relative, resolve } from 'node:path'
import { PUBLIC_BASE_URL } from '../../http/base-url.js'
import { isKlinesError } from '../../klines/errors.js'
import { quoteWord } from '../../klines/text.js'
import { defaultMirrorRoot } from '../../mirror/user-mirrors.js'

/** Stands for the folder of a mirror whose path is nobody's business. */
const SERVED_FOLDER = 'FOLDER'

/**
 * What `klines download` needs besides a series to fill the mirror of a source in a folder: both, unless they are the default ones. A
 * folder below the working folder is named, any other stays `FOLDER`.
 */
export function downloadFlags(root: string, source = PUBLIC_BASE_URL): string {
  const flags = source === PUBLIC_BASE_URL ? '' : ` --base-url ${quoteWord(source)}`
  const path = resolve(root)
  if (path === findDefaultRoot(source)) return flags
  const below = relative(process.cwd(), path)
  const isBelow = below !== '' && !below.startsWith('..') && !isAbsolute(below)
  return `${flags} --mirror ${isBelow ? quoteWord(below) : SERVED_FOLDER}`
}

/** Undefined for a user without a home folder. */
function findDefaultRoot(source: string): string | undefined {
  try {
    return resolve(defaultMirrorRoot(source))
  } catch (error) {
    if (isKlinesError(error)) return undefined
    throw error
  }
}
