import { fstatSync, lstatSync, readlinkSync, statSync } from 'node:fs'
import { unlessMissing } from './errno.js'

/** What a link names; undefined for what is no link, or not there. */
export function findTarget(path: string): string | undefined {
  const isLink = unlessMissing(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink()
  return isLink ? readlinkSync(path) : undefined
}

/**
 * Whether a path is stdout, whatever its name: `-`, `/dev/fd/1`, a link to one of them, or the file to which a shell has redirected stdout.
 */
export function isStdout(path: string): boolean {
  if (path === '-') return true
  try {
    const [stdout, named] = [fstatSync(1, { bigint: true }), statSync(path, { bigint: true })]
    return named.dev === stdout.dev && named.ino === stdout.ino
  } catch {
    // There is no such file yet.
    return false
  }
}
