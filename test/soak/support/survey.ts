import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../../support/cli/cli-sandbox.js'

/** What a killed run has left in a folder. */
export interface Survey {
  /** Files at final paths that are not as they should be, and files that should not be there. */
  readonly torn: string[]
  /** Files as they should be. */
  readonly whole: string[]
  /** Temp files, which a later run removes. */
  readonly temps: string[]
}

/**
 * Looks at every file below a folder. `versions` gives the bytes that a file may have (none: it should not be there), and
 * `isTemp` says which are temp files.
 */
export function survey(
  folder: string,
  versions: (name: string) => readonly Uint8Array[],
  isTemp: (name: string) => boolean,
): Survey {
  const found: Survey = { torn: [], whole: [], temps: [] }
  for (const name of filesBelow(folder)) {
    if (isTemp(name)) found.temps.push(name)
    else if (versions(name).some(bytes => readFileSync(join(folder, name)).equals(bytes))) found.whole.push(name)
    else found.torn.push(name)
  }
  return found
}

/** The files of a folder, to compare others with. */
export function contents(folder: string): Map<string, Buffer> {
  return new Map(filesBelow(folder).map(name => [name, readFileSync(join(folder, name))]))
}
