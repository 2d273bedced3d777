import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbandoned, tempName } from '../../fs/temp-name.js'

/**
 * Longest part of the target's name that a temp file's name repeats: 150 bytes at the most in UTF-8, so that it fits into
 * 255 with the 96 that are added.
 */
const NAME_PART = 50
const SUFFIX = '.tmp'

/** Where a file is written before it is put at `target`: beside it, hidden, under a name that says whose it is. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${tempName()}${SUFFIX}`)
}

/**
 * Removes what runs that were killed left beside `target`. Temp files of living processes and of other machines stay; so
 * does what cannot be removed, which is in nobody's way.
 */
export async function sweepTemps(target: string): Promise<void> {
  const folder = dirname(target)
  const prefix = tempPrefix(target)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue
    const maker = name.slice(prefix.length, -SUFFIX.length)
    if (/^[^~]+~\d+~[0-9a-f]{16}$/.test(maker) && isAbandoned(maker)) {
      await rm(join(folder, name), { force: true }).catch(() => {})
    }
  }
}

/** A character that the cut halves is left out: on disk it would become another one. */
function tempPrefix(target: string): string {
  const part = basename(target)
    .slice(0, NAME_PART)
    .replace(/[\uD800-\uDBFF]$/, '')
  return `.${part}.`
}
