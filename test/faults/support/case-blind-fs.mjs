// Preload: `stat` and `lstat` of node:fs/promises find a file whatever the case of its name, as on a disk without upper and
// lower case.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** The path as it is on the disk. */
async function actualPath(path) {
  const fold = name => name.normalize('NFC').toLowerCase()
  const names = await fs.promises.readdir(dirname(path)).catch(() => [])
  return join(dirname(path), names.find(name => fold(name) === fold(basename(path))) ?? basename(path))
}

for (const name of ['stat', 'lstat']) {
  const real = fs.promises[name]
  fs.promises[name] = async (path, ...rest) => real(await actualPath(path), ...rest)
}
syncBuiltinESMExports()
