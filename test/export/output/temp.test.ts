import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { OutputFile } from '../../../src/export/output/file.js'
import { removeLeftovers, tempPath } from '../../../src/export/output/temp.js'
import { runChild } from '../../support/cli/run-child.js'
import { tempFolder } from '../../support/temp-folder.js'

let folder: string
let path: string
beforeEach(() => {
  folder = tempFolder()
  path = join(folder, 'out.csv')
})

const HOST = hostname().slice(0, 64)
const RANDOM = '0123456789abcdef'
/** The id of a process that has ended. */
const DEAD = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }))

/** Creates the temp file that the process `pid` would have left beside a target; returns its name. */
function leaveTemp(target: string, pid: number | string, host = HOST): string {
  const name = basename(tempPath(target)).replace(/[^.~]+~\d+~[0-9a-f]{16}\.tmp$/, `${host}~${pid}~${RANDOM}.tmp`)
  writeFileSync(join(dirname(target), name), 'half a fi')
  return name
}

describe('the temp file of a killed run', () => {
  it('is removed by the next run for the same output, without a word', async () => {
    leaveTemp(path, DEAD)
    await removeLeftovers([path])
    expect(readdirSync(folder)).toEqual([])
  })

  it.each<[string, () => string, boolean]>([
    ['of a dead process', () => leaveTemp(path, DEAD), true],
    ['of this process', () => leaveTemp(path, process.pid), false],
    ['of a living process', () => leaveTemp(path, process.ppid), false],
    ['of another machine', () => leaveTemp(path, DEAD, 'elsewhere.invalid'), false],
    ['of another output', () => leaveTemp(join(folder, 'other.csv'), DEAD), false],
    ['of an output with a longer name', () => leaveTemp(`${path}.gz`, DEAD), false],
    ['without a process id', () => leaveTemp(path, 'nonsense'), false],
    ['of an editor', () => '.out.csv.swp', false],
    ['of an older version, or another tool', () => '.out.csv.0123456789ab.tmp', false],
  ])('%s: is it removed? %s', async (_, make, removed) => {
    const name = make()
    writeFileSync(join(folder, name), 'half a fi')
    await removeLeftovers([path])
    expect(existsSync(join(folder, name))).toBe(!removed)
  })

  it('stays while its process still runs, and is removed after that', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const theirs = leaveTemp(path, child.pid ?? 0)
    const ended = new Promise(resolve => child.once('exit', resolve))
    const file = await OutputFile.create(path, { force: false })
    expect(readdirSync(folder)).toContain(theirs)
    child.kill('SIGKILL')
    await ended
    await file.discard()
    await removeLeftovers([path])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is found beside the target of a symbolic link', async () => {
    mkdirSync(join(folder, 'elsewhere'))
    const real = join(folder, 'elsewhere', 'real.csv')
    writeFileSync(real, 'old')
    symlinkSync(real, path)
    leaveTemp(real, DEAD)
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
    leaveTemp(target, DEAD)
    expect(readdirSync(folder)).toHaveLength(1)
    const mine = tempPath(target)
    expect(Buffer.byteLength(basename(mine))).toBeLessThanOrEqual(255)
    writeFileSync(mine, '')
    await removeLeftovers([target])
    expect(readdirSync(folder)).toEqual([basename(mine)])
  })

  it('is ignored if it cannot be removed', async () => {
    const left = leaveTemp(path, DEAD)
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
