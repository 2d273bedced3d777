// Preload: `node:fs` and `node:fs/promises` find a file or folder whatever the case of the names in its path, as on a disk
// without upper and lower case. Absolute paths are those of other disks, except below the folder for temporary files.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { isAbsolute, join, normalize, sep } from 'node:path'

const ONE_PATH = [
  'access',
  'chmod',
  'lstat',
  'mkdir',
  'open',
  'readFile',
  'readdir',
  'rm',
  'stat',
  'unlink',
  'writeFile',
]
const TWO_PATHS = ['link', 'rename']

const { lstatSync, readdirSync } = fs
const isThere = path => lstatSync(path, { throwIfNoEntry: false }) !== undefined
const isFolder = path => lstatSync(path, { throwIfNoEntry: false })?.isDirectory()
const fold = name => name.normalize('NFC').toLowerCase()

/** The path as it is on the disk; names that do not exist stay as they are. */
function actualPath(path) {
  if (typeof path !== 'string' || (isAbsolute(path) && !path.startsWith(tmpdir()))) return path
  let actual = isAbsolute(path) ? sep : '.'
  for (const name of normalize(path).split(sep)) {
    const names = isFolder(actual) && !isThere(join(actual, name)) ? readdirSync(actual) : []
    actual = join(actual, names.find(other => fold(other) === fold(name)) ?? name)
  }
  return actual
}

/** Replaces a function of node:fs by one that looks its first `count` arguments up. */
function patch(owner, name, count) {
  const real = owner[name]
  owner[name] = (...args) => real(...args.slice(0, count).map(actualPath), ...args.slice(count))
}

for (const [names, count] of [
  [ONE_PATH, 1],
  [TWO_PATHS, 2],
]) {
  for (const name of names) {
    patch(fs.promises, name, count)
    patch(fs, name, count)
    patch(fs, `${name}Sync`, count)
  }
}
syncBuiltinESMExports()
