import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { entriesBelow } from './files-below.js'

/** The mode, times, inode and content of everything in a folder, to compare before and after. */
export function snapshot(folder: string): Record<string, unknown> {
  const names = ['.', ...entriesBelow(folder).map(({ path }) => path)]
  return Object.fromEntries(
    names.map(name => {
      const path = join(folder, name)
      const stat = lstatSync(path)
      const { ino, mode, mtimeMs, ctimeMs } = stat
      const content = stat.isFile() ? readFileSync(path, 'latin1') : stat.isSymbolicLink() ? readlinkSync(path) : ''
      return [name, { ino, mode, mtimeMs, ctimeMs, content }]
    }),
  )
}
