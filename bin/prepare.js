#!/usr/bin/env node
// Builds if a source is newer than the last build. Runs as npm's `prepare` script, after `npm ci` and before the first
// `npx klines` in a clone, and before the tests that need `dist`.
import { execSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
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

// Scripts of `npm run` find `klines` by this link: npm links the commands of dependencies only. `npx klines` in a clone runs a
// link to the clone that npm makes in its own cache.
if (process.platform !== 'win32') {
  const link = join(root, 'node_modules/.bin/klines')
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../bin/run.js', link)
}
