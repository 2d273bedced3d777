import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from './files-below.js'

/** Makes what a killed run has left in a folder old: its temp files, and the lock of a lake, which goes with them. */
export function letAnHourPass(folder: string): void {
  // Older than the present of any test.
  const past = Date.UTC(2001, 0) / 1000
  for (const name of filesBelow(folder)) if (/~[0-9a-f]{16}/.test(name)) utimesSync(join(folder, name), past, past)
  rmSync(join(folder, '_klines.lock'), { recursive: true, force: true })
}
