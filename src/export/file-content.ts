import { lstatSync } from 'node:fs'
import { fileSha256 } from '../fs/checksum.js'
import type { FileVersion } from '../fs/read-file.js'

/** The content of a file: its size in bytes, and a SHA-256 in hex. */
export interface FileContent {
  readonly size: number
  readonly sha256: string
  /** The version of the file that had this content, if a file of this version surely has it. */
  readonly version?: string | undefined
}

/** The ticks of file systems are shorter: an older file that is written again gets another time. */
const TICK_MS = 2_000

/** Identifies a version of a file: a file that is written again gets another one. A copy gets another one too. */
export function versionText({ ino, size, mtimeMs, ctimeMs }: FileVersion): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

/** The version of a file that surely has the content that was read; undefined when the file was written just now. */
export function settledVersion(file: FileVersion): string | undefined {
  return file.ctimeMs < Date.now() - TICK_MS ? versionText(file) : undefined
}

/** Whether two files have the same content. */
export function hasSameContent(a: FileContent | undefined, b: FileContent): boolean {
  return a !== undefined && a.size === b.size && a.sha256 === b.sha256
}

/** Whether the file at `path` has a content. It is read only when its version is another one. */
export function fileHasContent(path: string, content: FileContent): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size !== content.size) return false
  return versionText(stats) === content.version || fileSha256(path) === content.sha256
}
