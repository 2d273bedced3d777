import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../../support/files-below.js'

/** An index of a mirror, whose times differ from run to run. */
const INDEX = /(^|\/)\.klines\//

const listFiles = (folder: string) => filesBelow(folder).filter(name => !INDEX.test(name))

/** What a killed run left in a folder. */
export interface Survey {
  /** Files at final paths with wrong content, and unexpected files. */
  readonly torn: string[]
  /** Files with the expected content. */
  readonly whole: string[]
  /** Temp files, which a later run removes. */
  readonly temps: string[]
}

/**
 * Checks every file below a folder. `versions` returns the contents that a file may have (none if it is unexpected), and
 * `isTemp` tells which are temp files.
 */
export function survey(
  folder: string,
  versions: (name: string) => readonly Uint8Array[],
  isTemp: (name: string) => boolean,
): Survey {
  const result: Survey = { torn: [], whole: [], temps: [] }
  for (const name of listFiles(folder)) {
    if (isTemp(name)) result.temps.push(name)
    else if (versions(name).some(bytes => readFileSync(join(folder, name)).equals(bytes))) result.whole.push(name)
    else result.torn.push(name)
  }
  return result
}

/** The files of a folder by name. */
export function contents(folder: string): Map<string, Buffer> {
  return new Map(listFiles(folder).map(name => [name, readFileSync(join(folder, name))]))
}
