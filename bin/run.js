#!/usr/bin/env node
// Node 12 reads this file, too: no newer syntax, and no import before the check.
const version = process.versions.node.split('.').map(Number)
const isSupported =
  version[0] > 22 ||
  (version[0] === 22 && version[1] >= 3) ||
  (version[0] === 20 && (version[1] > 18 || (version[1] === 18 && version[2] >= 1)))

if (isSupported) {
  import('./start.js')
} else {
  process.stderr.write(
    `klines: This is Node ${process.versions.node}. Expected Node 20.18.1 or later of 20, or 22.3 or later.\n`,
  )
  process.exitCode = 1
}
