import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HOUR_MS } from '../candles/intervals.js'
import { unlessMissing } from './errno.js'
import { findTarget } from './links.js'

export interface FileVersion {
  readonly ino: number
  readonly size: number
  /** Modification time, ms. */
  readonly mtimeMs: number
  /** Of the last change of the file or of its attributes, ms. No program can set it. */
  readonly ctimeMs: number
}

export function isSameVersion(a: FileVersion | undefined, b: FileVersion | undefined): boolean {
  return a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs && a?.ctimeMs === b?.ctimeMs
}

/**
 * A regular file and its version, also behind a link; nothing, with the target of a link to nothing; or what cannot be a file of a mirror: a
 * folder, a device, a file larger than expected.
 */
export type FileRead =
  | (FileVersion & { readonly state: 'file'; readonly bytes: Buffer })
  | { readonly state: 'missing'; readonly reason?: string | undefined }
  | { readonly state: 'corrupt'; readonly reason: string }

/**
 * Reads a regular file of at most `maxBytes` through one descriptor, so that the bytes of a concurrent replacement are never mixed in.
 * Synchronous because most files are small: four trips through the thread pool cost several times the read itself.
 */
export function readFile(
  path: string,
  maxBytes: number,
  allocate: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): FileRead {
  const descriptor = unlessMissing(() => openSync(path, 'r'))
  if (descriptor === undefined) {
    const target = findTarget(path)
    return { state: 'missing', reason: target && `a link to ${target}, which is not there` }
  }
  try {
    const stat = fstatSync(descriptor)
    const { ino, size, mtimeMs, ctimeMs } = stat
    if (!stat.isFile()) return { state: 'corrupt', reason: 'not a regular file' }
    if (size > maxBytes) return { state: 'corrupt', reason: `a file of ${size} bytes; expected at most ${maxBytes}` }
    const buffer = allocate(size)
    // The file may have become shorter meanwhile.
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, size, 0))
    return { state: 'file', bytes, ino, size, mtimeMs, ctimeMs }
  } finally {
    closeSync(descriptor)
  }
}

const TEMP_NAME = /^(\..*\.)?\d+~[0-9a-f]{16}(\.tmp)?$/

/** A name for a temp file that is unique over processes: process id, random. At most 27 bytes. */
export function tempName(): string {
  // It may be guessable, as files are created exclusively; node:crypto would take 7 ms to load.
  const word = () => Math.random().toString(16).slice(2, 10).padEnd(8, '0')
  return `${process.pid}~${word()}${word()}`
}

/** The path of a temp file for `target`: beside it, hidden. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${tempName()}.tmp`)
}

/** At most 50 characters of the target's name: the name of the temp file fits into 255 bytes. */
function tempPrefix(target: string): string {
  return `.${[...basename(target)].slice(0, 50).join('')}.`
}

/** Whether a run may have made a temp file of this name: what has another one is never removed. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Whether a temp file was last written more than an hour ago: then its run has ended. */
export function isLeftover(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && Date.now() - stats.mtimeMs > HOUR_MS
}

/** Removes the temp files beside some targets that killed runs have left. Never throws. */
export function removeLeftovers(targets: readonly string[]): void {
  const prefixes = targets.map(tempPrefix)
  for (const folder of new Set(targets.map(target => dirname(target)))) {
    try {
      const isOurs = (name: string) =>
        prefixes.some(prefix => name.startsWith(prefix) && isTempName(name.slice(prefix.length)))
      for (const name of readdirSync(folder).filter(isOurs))
        if (isLeftover(join(folder, name))) rmSync(join(folder, name), { force: true })
    } catch {
      // It is not there, or another user's.
    }
  }
}
