import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** All that can be seen of a folder without changing it: kind, mode, time, inode and content of everything in it. */
export function snapshot(folder: string): Record<string, unknown> {
  const names = ['.', ...(readdirSync(folder, { recursive: true }) as string[]).sort()]
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
