#!/usr/bin/env node
// Puts this package's own command where `npx klines` looks first, so that it works in a clone at once. Without it npx
// makes an installation of its own in its cache, which takes seconds and has been seen to break.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
if (process.platform !== 'win32') {
  mkdirSync(folder, { recursive: true })
  rmSync(`${folder}/klines`, { force: true })
  symlinkSync('../../bin/run.js', `${folder}/klines`)
}
