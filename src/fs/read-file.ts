import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoCode } from './errno.js'

/** Returns a buffer of a size in bytes; into a smaller one, only the beginning of a file is read. */
export type Allocate = (size: number) => Buffer

/** Identifies one version of a file. */
export interface FileVersion {
  readonly ino: number
  readonly size: number
  /** Modification time, ms. */
  readonly mtimeMs: number
  /** Time of the last change of the file or of its attributes, ms. No program can set it. */
  readonly ctimeMs: number
}

/** Whether two versions are one. */
export function isSameVersion(a: FileVersion | undefined, b: FileVersion | undefined): boolean {
  return a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs && a?.ctimeMs === b?.ctimeMs
}

/** The bytes of a file and its version. */
export interface FileSnapshot extends FileVersion {
  readonly state: 'file'
  readonly bytes: Buffer
}

/**
 * A regular file, nothing, or what cannot be a file of a mirror or a lake: a folder, a link, or a file that is larger than expected.
 * `reason` describes it.
 */
export type FileRead =
  | FileSnapshot
  | { readonly state: 'missing' }
  | { readonly state: 'corrupt'; readonly reason: string }

const NOT_REGULAR: FileRead = { state: 'corrupt', reason: 'not a regular file' }

/**
 * Reads a regular file of at most `maxBytes` through one descriptor, so that the bytes of a concurrent replacement are never mixed in.
 * Links are not followed, and the size is checked first. Throws what the file system throws.
 *
 * Synchronous because most files are small (a window has at most 139,569 bytes): four trips through the thread pool cost several times
 * the read itself.
 */
export function readFile(path: string, maxBytes: number, allocate: Allocate = Buffer.allocUnsafeSlow): FileRead {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return { state: 'missing' }
    if (code === 'ENOTDIR') return { state: 'corrupt', reason: 'below something that is not a folder' }
    if (code === 'ELOOP') return NOT_REGULAR
    throw error
  }
  try {
    const stat = fstatSync(descriptor)
    const { ino, size, mtimeMs, ctimeMs } = stat
    if (!stat.isFile()) return NOT_REGULAR
    if (size > maxBytes) return { state: 'corrupt', reason: `a file of ${size} bytes; expected at most ${maxBytes}` }
    return { state: 'file', bytes: fill(allocate(size), descriptor, 0), ino, size, mtimeMs, ctimeMs }
  } finally {
    closeSync(descriptor)
  }
}

/** Reads bytes of a file from a position on until the buffer is full; returns less of it where the file ends before. */
export function fill(buffer: Buffer, descriptor: number, position: number): Buffer {
  let filled = 0
  while (filled < buffer.length) {
    const read = readSync(descriptor, buffer, filled, buffer.length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return buffer.subarray(0, filled)
}
