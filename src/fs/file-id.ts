import type { BigIntStats } from 'node:fs'

/**
 * Identifies a file as long as it exists: two paths with one id are one file. It takes the statistics with `bigint`, because
 * the numbers of some file systems do not fit a double.
 */
export function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
