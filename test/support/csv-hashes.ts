import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The SHA-256 of every CSV file in a folder by `SYMBOL-INTERVAL`. */
export function csvHashes(folder: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
  return Object.fromEntries(readdirSync(folder).map(name => [name.replace(/\.csv$/, ''), hash(name)]))
}
