import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAbandoned, isFromThisHost } from '../fs/temp-name.js'
import { listFolder, TEMP_FOLDER } from './file-store.js'

/** A temp file of another machine (a mirror on a network disk) is leftover after this time. */
const FOREIGN_TEMP_MS = 60 * 60 * 1000

/** The temp files of a mirror that their processes can no longer finish, relative to the root. */
export function findLeftoverTemps(root: string, now: number): string[] {
  return listFolder(join(root, TEMP_FOLDER))
    .filter(name => isLeftover(join(root, TEMP_FOLDER, name), name, now))
    .map(name => `${TEMP_FOLDER}/${name}`)
}

/** Removes leftover temp files and returns how many. */
export function sweepTemps(root: string, now: number): number {
  const paths = findLeftoverTemps(root, now)
  for (const path of paths) rmSync(join(root, path), { force: true, recursive: true })
  return paths.length
}

function isLeftover(path: string, name: string, now: number): boolean {
  if (isFromThisHost(name)) return isAbandoned(name)
  const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return mtimeMs !== undefined && now - mtimeMs > FOREIGN_TEMP_MS
}
