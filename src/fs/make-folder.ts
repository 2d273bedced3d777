import { accessSync, constants, existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { errnoCode } from './errno.js'

/**
 * Makes a folder and its parents where they are missing, and returns the topmost one that was made; undefined when all were
 * there. Throws what the file system throws.
 *
 * Node's own `mkdir` with `recursive` never returns where a folder that exists answers ENOENT, as `/proc` does: it makes the
 * parent, which is there, and tries again.
 */
export function makeFolder(path: string): string | undefined {
  try {
    return makeOne(path)
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT' || dirname(path) === path) throw error
  }
  const topmost = makeFolder(dirname(path))
  // The parent is there: what fails now, fails.
  const made = makeOne(path)
  return topmost ?? made
}

/** Makes a folder whose parent is there; returns it, or undefined when it was there, also as a link to a folder. */
function makeOne(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined
  try {
    mkdirSync(path)
    return path
  } catch (error) {
    // Another process may have made it meanwhile.
    if (errnoCode(error) !== 'EEXIST' || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
    return undefined
  }
}

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
