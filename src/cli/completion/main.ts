// The entry of `klines __complete`, which the scripts of the shells run at each TAB: bin/bundle.js makes one small file of it,
// because oclif and the commands take longer to load than a person wants to wait.
import { readFileSync } from 'node:fs'
import { PACKAGE_URL } from '../../version.js'
import { complete, formatCompletion } from './complete.js'

/** Prints how the last of `words`, those after `klines` up to the cursor, can be completed. */
export function printCompletion(words: readonly string[]): void {
  const { commands } = readJson('oclif.manifest.json')
  const { topics } = readJson('package.json').oclif
  process.stdout.write(formatCompletion(complete(words, { commands, topics })))
}

function readJson(name: string) {
  return JSON.parse(readFileSync(new URL(name, PACKAGE_URL), 'utf8'))
}
