import { basename, dirname, join } from 'node:path'
import { isAbandoned, tempName } from '../../fs/temp-name.js'

/** Characters of the target's name in the name of a temp file: at most 150 bytes of UTF-8, so that it fits into 255. */
const NAME_PART = 50

/**
 * The files that an export makes beside a target: what it writes (`tmp`), the file that was there before (`bak`), and a second
 * name of the first on its way into place (`new`). Those of one target differ only in these letters.
 */
export type TempKind = 'tmp' | 'bak' | 'new'

const TEMP_NAME = /~[0-9a-f]{16}\.(?:tmp|bak|new)$/
const MAKER = /^[^~]+~\d+~[0-9a-f]{16}$/
const KIND_LENGTH = 3

/** The path of a temp file for `target`: beside it, hidden, with the process in its name. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${tempName()}.tmp`)
}

/** The path of the other kind that belongs to a temp file. */
export function tempSibling(path: string, kind: TempKind): string {
  return path.slice(0, -KIND_LENGTH) + kind
}

/** Whether an export may have made a file of this name. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** The kind of a temp file, from its path or name. */
export function tempKind(name: string): TempKind {
  return name.slice(-KIND_LENGTH) as TempKind
}

/** The process that made the temp file `name` for `target` and has ended on this machine; undefined for any other file. */
export function endedMaker(name: string, target: string): string | undefined {
  const maker = findMaker(name, target)
  return maker !== undefined && isAbandoned(maker) ? maker.slice(0, maker.lastIndexOf('~')) : undefined
}

/** Whether `name` is that of a temp file for `target`, whatever process made it. */
export function isTempOf(name: string, target: string): boolean {
  return findMaker(name, target) !== undefined
}

function findMaker(name: string, target: string): string | undefined {
  const prefix = tempPrefix(target)
  if (!name.startsWith(prefix) || !isTempName(name)) return undefined
  const maker = name.slice(prefix.length, -KIND_LENGTH - 1)
  return MAKER.test(maker) ? maker : undefined
}

/** Whether a process, as `endedMaker` returns it, made the temp file `name`, for whatever target. */
export function isMadeBy(name: string, maker: string): boolean {
  return isTempName(name) && name.includes(`.${maker}~`)
}

/** Leaves out a character that the cut would halve: on disk it would become another one. */
function tempPrefix(target: string): string {
  const part = basename(target)
    .slice(0, NAME_PART)
    .replace(/[\uD800-\uDBFF]$/, '')
  return `.${part}.`
}
