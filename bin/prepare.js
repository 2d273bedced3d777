#!/usr/bin/env node
// Builds if a source is newer than the last build. Runs as npm's `prepare` script, after `npm ci` and before the first
// `npx klines` in a clone, and before the tests that need `dist`.
import { execSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A folder is newer than a file that was removed from it. */
const folders = ['bin', 'src'].flatMap(folder => {
  const names = readdirSync(join(root, folder), { recursive: true })
  return [folder, ...names.map(name => join(folder, name))]
})
const sources = [...folders, 'package.json', 'package-lock.json', 'tsconfig.json']
const newest = Math.max(...sources.map(name => statSync(join(root, name)).mtimeMs))
const built = statSync(join(root, 'dist/commands.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0
if (newest >= built) {
  // `npm install /path/to/clone` in another project runs this script, and installs nothing here.
  if (existsSync(join(root, 'node_modules/typescript')))
    execSync('npm run --silent build', { cwd: root, stdio: 'inherit' })
  else {
    console.error(`klines: Cannot build klines without its packages. Run npm ci in ${root} first.`)
    process.exitCode = 1
  }
}
