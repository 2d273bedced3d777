#!/usr/bin/env node
// Builds if a source is newer than the last build. Runs as npm's `prepare` script, after `npm ci` and before the first
// `npx klines` in a clone, and before the tests that need `dist`.
import { execSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The modification time of the newest file in these files and folders, ms. */
function findNewest(paths) {
  return Math.max(
    ...paths.map(path => {
      const stat = statSync(path)
      if (!stat.isDirectory()) return stat.mtimeMs
      // A folder is newer than a file that was removed from it.
      return Math.max(stat.mtimeMs, findNewest(readdirSync(path).map(name => join(path, name))))
    }),
  )
}

const sources = ['bin', 'src', 'package.json', 'package-lock.json', 'tsconfig.json'].map(name => join(root, name))
const built = statSync(join(root, 'dist/main.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0
if (findNewest(sources) >= built) execSync('npm run --silent build', { cwd: root, stdio: 'inherit' })
