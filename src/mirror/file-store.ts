import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isAbandoned, isOfThisHost, tempName } from '../fs/temp-name.js'

/** Where files are written before they are renamed into place: inside the mirror, so on the same disk. */
export const TEMP_FOLDER = '.klines-tmp'

/** A temp file of another machine (a mirror on a network disk) is left alone for this long. */
const FOREIGN_TEMP_MS = 60 * 60 * 1000

/** How often a file is tried to be written where folders vanish. */
const WRITE_TRIES = 3

/** Gives a buffer of a size. */
export type Allocate = (size: number) => Buffer

/** What tells one version of a file from another. */
export interface FileVersion {
  readonly ino: number
  readonly size: number
  /** Modification time, ms. */
  readonly mtimeMs: number
}

/** A file's bytes and which version of it they are. */
export interface FileSnapshot extends FileVersion {
  readonly state: 'file'
  readonly bytes: Buffer
}

/** What is at a path: a regular file, something else (a folder, link, FIFO, socket or device), or nothing. */
export type FileRead = FileSnapshot | { readonly state: 'not_regular' } | { readonly state: 'missing' }

/**
 * Reads a regular file through one descriptor: opened once, sized and read from what was opened, so a concurrent
 * replacement is never mixed in. Links are not followed, and a FIFO is opened without waiting for a writer.
 *
 * Synchronous on purpose: window files are small (139,569 bytes at the most) and four trips through the thread pool cost
 * several times what the read does.
 */
export function readFile(path: string, allocate: Allocate = Buffer.allocUnsafeSlow): FileRead {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' }
    if (code === 'ELOOP' || code === 'ENXIO') return { state: 'not_regular' }
    throw error
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return { state: 'not_regular' }
    const bytes = allocate(stat.size)
    let filled = 0
    while (filled < stat.size) {
      const read = readSync(descriptor, bytes, filled, stat.size - filled, filled)
      if (read === 0) break
      filled += read
    }
    return { state: 'file', bytes: bytes.subarray(0, filled), ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Puts `bytes` at `root/path` whole or not at all: a temp file of its own name, a full write, the size checked on the
 * descriptor (a short write must not become a short file), the time set, then a rename. No fsync: a file lost to a power
 * cut is found broken when read, and fetched again; one a file would take four times as long.
 * Throws what the file system throws; the temp file is gone then.
 */
export function writeFile(root: string, path: string, bytes: Uint8Array, mtimeMs: number): void {
  for (let tries = WRITE_TRIES; ; tries--) {
    try {
      writeOnce(root, path, bytes, mtimeMs)
      return
    } catch (error) {
      // Another process removed a folder meanwhile (`mirror clear`): it is made again.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 1) throw error
    }
  }
}

function writeOnce(root: string, path: string, bytes: Uint8Array, mtimeMs: number): void {
  const target = join(root, path)
  const temp = join(root, TEMP_FOLDER, tempName())
  mkdirSync(dirname(temp), { recursive: true })
  mkdirSync(dirname(target), { recursive: true })
  const descriptor = openSync(temp, 'wx', 0o666)
  try {
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
      if (fstatSync(descriptor).size !== bytes.length) throw new Error(`Short write: ${temp}`)
      futimesSync(descriptor, mtimeMs / 1000, mtimeMs / 1000)
    } finally {
      closeSync(descriptor)
    }
    clearTheWay(target)
    renameSync(temp, target)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
}

/** A folder where a file belongs (a broken mirror) would make the rename fail. */
function clearTheWay(target: string): void {
  if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) rmSync(target, { recursive: true })
}

/** Removes temp files that dead processes left in `root`; how many. Those of running processes stay. */
export function sweepTemps(root: string, now: number): number {
  const folder = join(root, TEMP_FOLDER)
  let swept = 0
  for (const name of listFolder(folder)) {
    if (!isLeftover(join(folder, name), name, now)) continue
    rmSync(join(folder, name), { force: true, recursive: true })
    swept++
  }
  return swept
}

/** Whether a temp file is one that its process can no longer finish. */
export function isLeftover(path: string, name: string, now: number): boolean {
  if (isOfThisHost(name)) return isAbandoned(name)
  const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return mtimeMs !== undefined && now - mtimeMs > FOREIGN_TEMP_MS
}

/** Names in a folder, sorted; none when it is not there. */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path).sort()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
