import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { removeLeftovers, tempPath } from '../../../src/engine/output/temp.js'
import { runChild } from '../../support/cli/run-child.js'
import { putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

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

describe('the temp file of a killed run', () => {
  it('is removed by the next run for the same output, without a word', async () => {
    leaveTemp(path)
    await removeLeftovers([path])
    expect(readdirSync(folder)).toEqual([])
  })

  it.each<[string, () => string, boolean]>([
    ['more than an hour old', () => leaveTemp(path), true],
    ['less than an hour old', () => leaveTemp(path, FRESH), false],
    ['of another output', () => leaveTemp(join(folder, 'other.csv')), false],
    ['of an output with a longer name', () => leaveTemp(`${path}.gz`), false],
    ['without a process id', () => leaveNamed('.out.csv.nonsense~0123456789abcdef.tmp'), false],
    ['of an editor', () => leaveNamed('.out.csv.swp'), false],
    ['of another tool', () => leaveNamed('.out.csv.0123456789ab.tmp'), false],
  ])('%s: is it removed? %s', async (_, make, removed) => {
    const name = make()
    await removeLeftovers([path])
    expect(existsSync(join(folder, name))).toBe(!removed)
  })

  it('is found beside the target of a symbolic link', async () => {
    mkdirSync(join(folder, 'elsewhere'))
    const real = join(folder, 'elsewhere', 'real.csv')
    writeFileSync(real, 'old')
    symlinkSync(real, path)
    leaveTemp(real)
    await removeLeftovers([path])
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['real.csv'])
  })

  it.each([
    ['255 bytes', `${'n'.repeat(251)}.csv`],
    ['three bytes a character', `${'名'.repeat(83)}n.csv`],
    ['four bytes a character', `${'😀'.repeat(62)}.csv`],
    ['a character that truncation would split', `n${'😀'.repeat(61)}.csv`],
  ])('is also found for an output name of %s', async (_, name) => {
    const target = join(folder, name)
    leaveTemp(target)
    expect(readdirSync(folder)).toHaveLength(1)
    const mine = tempPath(target)
    expect(Buffer.byteLength(basename(mine))).toBeLessThanOrEqual(255)
    writeFileSync(mine, '')
    await removeLeftovers([target])
    expect(readdirSync(folder)).toEqual([basename(mine)])
  })

  it('is ignored if it cannot be removed', async () => {
    const left = leaveTemp(path)
    chmodSync(folder, 0o555)
    const { stdout } = await runChild('sweep-output.ts', [path], { withoutRoot: true })
    chmodSync(folder, 0o755)
    expect(stdout).toBe('swept\n')
    expect(readFileSync(join(folder, left), 'utf8')).toBe('half a fi')
  })

  it('is not looked for in a folder that does not exist', async () => {
    await removeLeftovers([join(folder, 'missing', 'out.csv')])
  })
})
