import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, sep } from 'node:path'

/**
 * Throws what the file system throws when nothing can be created in a folder; for a missing one, in the folder where it would
 * be created.
 */
export function checkWritableFolder(path: string): void {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  // With a separator at its end, a file is not taken for a folder.
  accessSync(folder + sep, constants.W_OK | constants.X_OK)
}
