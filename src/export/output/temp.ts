import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbandoned, tempName } from '../../fs/temp-name.js'

/** Characters of the target's name in the name of a temp file: at most 150 bytes of UTF-8, so that it fits into 255. */
const NAME_PART = 50
const SUFFIX = '.tmp'

/** The path of a temp file for `target`: beside it, hidden, with the process in its name. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${tempName()}${SUFFIX}`)
}

/**
 * Removes the temp files that killed runs left beside `target`. Those of running processes and of other machines stay, and
 * those that cannot be removed.
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

/** Leaves out a character that the cut would halve: on disk it would become another one. */
function tempPrefix(target: string): string {
  const part = basename(target)
    .slice(0, NAME_PART)
    .replace(/[\uD800-\uDBFF]$/, '')
  return `.${part}.`
}
