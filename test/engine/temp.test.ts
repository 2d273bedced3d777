import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { removeLeftovers, tempPath } from '../../src/fs/files.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

let folder: string
let path: string
beforeEach(() => {
  folder = tempFolder()
  path = join(folder, 'out.csv')
})

const [OLD, FRESH] = [3_700_000, 3_500_000]

function leaveNamed(name: string): string {
  putFile(folder, name, 'half a fi')
  return name
}

/** Creates the temp file that a run would have left beside a target some ms ago; returns its name. */
function leaveTemp(target: string, ageMs = OLD): string {
  const temp = tempPath(target)
  putFile(dirname(temp), basename(temp), 'half a fi', Date.now() - ageMs)
  return basename(temp)
}

it.each<[string, () => string, boolean]>([
  ['more than an hour old', () => leaveTemp(path), true],
  ['less than an hour old', () => leaveTemp(path, FRESH), false],
  ['of another output', () => leaveTemp(join(folder, 'other.csv')), false],
  ['of an output with a longer name', () => leaveTemp(`${path}.gz`), false],
  ['without a process id', () => leaveNamed('.out.csv.nonsense~0123456789abcdef.tmp'), false],
  ['of an editor', () => leaveNamed('.out.csv.swp'), false],
  ['of another tool', () => leaveNamed('.out.csv.0123456789ab.tmp'), false],
])('the temp file of a killed run %s: is it removed? %s', async (_, make, removed) => {
  const name = make()
  removeLeftovers([path])
  expect(existsSync(join(folder, name))).toBe(!removed)
})
