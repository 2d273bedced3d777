import { lstatSync, readdirSync, renameSync, rmSync, type Stats, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSourceName } from '../candles/base-url.js'
import { parseObject } from '../candles/json.js'
import { unlessMissing } from '../fs/errno.js'
import { isLeftover, isTempName, readFile, tempName } from '../fs/files.js'
import { checkInside, makeFolder } from '../fs/folders.js'

/** Where files are written before they are renamed into place: inside the mirror, so on the same disk. */
export const TEMP_FOLDER = '.klines-tmp'

/** A larger file of a mirror is corrupt, and not read: the longest window has 139,569 bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024

/**
 * Writes a file at `root/path` whole or not at all: a temp file is written, its size checked (a short write must not
 * become a short file), then it is renamed. There is no fsync, which would take four times as long: a file that a power
 * cut damaged is found corrupt when read, and downloaded again. Returns the `ctimeMs` of the file, unless another process
 * has replaced it meanwhile.
 */
export function writeFile(root: string, path: string, bytes: Uint8Array, mtimeMs: number): number | undefined {
  checkInside(root, path)
  checkInside(root, TEMP_FOLDER)
  const target = join(root, path)
  const temp = join(root, TEMP_FOLDER, tempName())
  makeFolder(join(root, TEMP_FOLDER))
  makeFolder(dirname(target))
  try {
    // Never through a link: `x` is O_EXCL.
    writeFileSync(temp, bytes, { flag: 'wx' })
    utimesSync(temp, mtimeMs / 1000, mtimeMs / 1000)
    const own = statSync(temp)
    if (own.size !== bytes.length) throw new Error(`Short write: ${temp}`)
    // A folder in the place of the file would make the rename fail.
    if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) rmSync(target, { recursive: true })
    renameSync(temp, target)
    const stored = statPath(target)
    return stored?.ino === own.ino ? stored.ctimeMs : undefined
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
}

/** Removes leftover temp files, one by one. Throws `linked_path` for a linked folder. */
export function sweepTemps(root: string): void {
  const names = listFolder(join(root, TEMP_FOLDER)).filter(isTempName)
  for (const path of names.map(name => `${TEMP_FOLDER}/${name}`).filter(path => isLeftover(join(root, path)))) {
    checkInside(root, path)
    rmSync(join(root, path), { force: true })
  }
}

/** The state of a path, or of what a link there names; undefined when it is missing. */
export function statPath(path: string): Stats | undefined {
  return unlessMissing(() => statSync(path, { throwIfNoEntry: false }))
}

/** The names in a folder, sorted; none when it is missing. */
export function listFolder(path: string): string[] {
  return unlessMissing(() => readdirSync(path).sort()) ?? []
}

/** The file at a mirror's root that says which source it copies. */
export const META_FILE = 'mirror.json'

/**
 * The source that `root/mirror.json` names; undefined when the file is missing, and with a warning when it is damaged. Throws what the file
 * system throws.
 */
export function readSource(root: string, warn: (warning: string) => void = () => {}): string | undefined {
  const path = join(root, META_FILE)
  const file = readFile(path, MAX_FILE_BYTES)
  if (file.state === 'missing' && file.reason === undefined) return undefined
  const meta = file.state === 'file' ? parseObject(file.bytes.toString()) : undefined
  if (isSourceName(meta?.baseUrl)) return meta.baseUrl
  warn(`${path} cannot be read. The mirror's source counts as unknown.`)
  return undefined
}
