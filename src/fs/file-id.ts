import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { undefinedIfMissing } from './errno.js'

/**
 * Identifies a file as long as it exists: two paths with one id are one file. It takes the statistics with `bigint`, because
 * the numbers of some file systems do not fit a double.
 */
export function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** The id of what is at `path`, of a link itself; undefined when nothing is there. */
export async function findFileId(path: string): Promise<string | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(undefinedIfMissing)
  return stats && fileId(stats)
}
