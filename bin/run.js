#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import './v8-flags.js'

// A reader that has seen enough (`| head`) is no failure; any other fault of stdout is. A lost stderr is nobody's loss.
process.stdout.on('error', error => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`klines: Cannot write to stdout: ${error.message}\n`)
  // At once: oclif has a listener of its own, which would throw what it is given.
  process.exit(1)
})
process.stderr.on('error', () => {})

// Commands report their own errors. What comes here is about finding one; the process is left to end by itself, so that
// a slow reader gets every byte (oclif's own runner waits for ten seconds and then exits).
const args = process.argv.slice(2)
try {
  if (args.length === 1 && args[0] === '--version') showVersion()
  else await (await import('./load-bundle.js')).loadBundle().run(args, join(import.meta.dirname, '..'))
} catch (error) {
  const code = error.oclif?.exit ?? 1
  // 127 is a shell's own code for a command that is not there; ours for bad usage is 2.
  process.exitCode = code === 127 ? 2 : code
  if (process.exitCode !== 0) process.stderr.write(`klines: ${error.message}\n`)
}

/** In oclif's own words, which take it twice as long to find as Node takes to start. */
function showVersion() {
  const { name, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`)
}
