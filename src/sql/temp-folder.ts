import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAbandoned, tempName } from '../fs/temp-name.js'

const PREFIX = 'klines-sql-'

/** Makes a folder in the system's temporary one, which only this user may read, and removes those of processes that were killed. */
export function makeTempFolder(): string {
  const parent = realpathSync(tmpdir())
  removeAbandoned(parent)
  const folder = join(parent, PREFIX + tempName())
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

/** Never throws: what stays does no harm. */
function removeAbandoned(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      if (!name.startsWith(PREFIX) || !isAbandoned(name.slice(PREFIX.length))) continue
      const folder = join(parent, name)
      // Anyone may make a folder of this name there.
      if (lstatSync(folder).uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
    }
  } catch {}
}
