import { existsSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** A folder and its parents, as far as they are missing, the deepest one first: what a run makes for an output. */
export function missingFolders(path: string): string[] {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
    missing.push(folder)
  }
  return missing
}

/** Removes folders as far as they are empty. Never throws. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder)
    } catch {
      // It was not made, or something is in it.
    }
  }
}
