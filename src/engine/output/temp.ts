import { readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isLeftover, isTempName as isMaker, tempName } from '../../fs/temp-name.js'

/** Characters of the target's name in the name of a temp file: at most 150 bytes of UTF-8, so that it fits into 255. */
const NAME_PART = 50

const TEMP_NAME = /~[0-9a-f]{16}\.tmp$/
const SUFFIX_LENGTH = '.tmp'.length

/** The path of a temp file for `target`: beside it, hidden, with the process in its name. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${tempName()}.tmp`)
}

/** Whether an export may have made a file of this name. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Whether `name` is that of a temp file for `target`. */
export function isTempOf(name: string, target: string): boolean {
  const prefix = tempPrefix(target)
  return name.startsWith(prefix) && isTempName(name) && isMaker(name.slice(prefix.length, -SUFFIX_LENGTH))
}

/** Removes the temp files beside outputs that killed runs have left. Never throws. */
export async function removeLeftovers(paths: readonly string[]): Promise<void> {
  const folders = new Map<string, readonly string[]>()
  for (const path of paths) {
    const target = await realpath(path).catch(() => path)
    const folder = dirname(target)
    const names = folders.get(folder) ?? (await readdir(folder).catch(() => [])).filter(isTempName)
    folders.set(folder, names)
    for (const name of names.filter(name => isTempOf(name, target))) {
      const temp = join(folder, name)
      if (isLeftover(temp)) await rm(temp, { force: true }).catch(() => {})
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
