#!/usr/bin/env node
// `npm ci` and the first `npx klines` in a clone both run the `prepare` script: this builds only when a source is newer than
// the last build.
import { execSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const generated = join(root, 'src/klines/kernel/wasm-bytes.ts')

/** The time of the newest file in these files and folders, ms; what is generated does not count. */
function newest(paths) {
  return Math.max(
    ...paths.map(path => {
      const stat = statSync(path)
      if (!stat.isDirectory()) return path === generated ? 0 : stat.mtimeMs
      return newest(readdirSync(path).map(name => join(path, name)))
    }),
  )
}

const sources = ['bin', 'src', 'package.json', 'package-lock.json', 'tsconfig.json'].map(name => join(root, name))
const built = statSync(join(root, 'dist/main.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0
if (newest(sources) >= built) execSync('npm run --silent build', { cwd: root, stdio: 'inherit' })

// npx runs a package's own command from here; npm itself links only the commands of dependencies.
if (process.platform !== 'win32') {
  const link = join(root, 'node_modules/.bin/klines')
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../bin/run.js', link)
}
