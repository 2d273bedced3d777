import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything below a folder, hidden entries too: paths relative to it, a folder before its entries. Does not follow symbolic
 * links, as `readdir` with `recursive` does from Node 22 on.
 */
export function entriesBelow(folder: string, parent = ''): { path: string; isFolder: boolean }[] {
  return readdirSync(join(folder, parent), { withFileTypes: true }).flatMap(entry => {
    const path = join(parent, entry.name)
    const isFolder = entry.isDirectory()
    return [{ path, isFolder }, ...(isFolder ? entriesBelow(folder, path) : [])]
  })
}

/** The paths of all files below a folder, relative to it and sorted; none for a missing folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const files = entriesBelow(folder).filter(({ isFolder }) => !isFolder)
  return files.map(({ path }) => path).sort()
}
