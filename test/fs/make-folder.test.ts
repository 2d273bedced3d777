import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder } from '../../src/fs/make-folder.js'
import { tempFolder } from '../support/temp-folder.js'

describe('makeFolder', () => {
  it('makes the parents that are missing, and returns the topmost one', () => {
    const folder = tempFolder()
    expect(makeFolder(join(folder, 'a/b/c'))).toBe(join(folder, 'a'))
    expect(makeFolder(join(folder, 'a/b/d'))).toBe(join(folder, 'a/b/d'))
    for (const name of ['a/b/c', 'a/b/d']) expect(statSync(join(folder, name)).isDirectory()).toBe(true)
  })

  it('leaves a folder as it is, also behind a link', () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'there'), { mode: 0o700 })
    symlinkSync('there', join(folder, 'link'))
    for (const path of [join(folder, 'there'), join(folder, 'link'), '.', '/']) expect(makeFolder(path)).toBe(undefined)
    expect(statSync(join(folder, 'there')).mode & 0o777).toBe(0o700)
    expect(makeFolder(join(folder, 'link/below'))).toBe(join(folder, 'link/below'))
    expect(statSync(join(folder, 'there/below')).isDirectory()).toBe(true)
  })

  it.each([
    ['a file', 'file', 'EEXIST'],
    ['a file above it', 'file/x/y', 'ENOTDIR'],
    ['a dangling link', 'dangling', 'EEXIST'],
    ['a dangling link above it', 'dangling/x', 'EEXIST'],
    ['a link to itself', 'loop/x', 'ELOOP'],
    ['a long name', 'x'.repeat(300), 'ENAMETOOLONG'],
  ])('with %s in the way throws what the system throws', (_, name, code) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('nowhere', join(folder, 'dangling'))
    symlinkSync('loop', join(folder, 'loop'))
    expect(() => makeFolder(join(folder, name))).toThrow(expect.objectContaining({ code }))
  })

  it('below a folder that takes no new one throws the error of the system', ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may write everywhere')
    const folder = tempFolder()
    chmodSync(folder, 0o555)
    expect(() => makeFolder(join(folder, 'a/b'))).toThrow(expect.objectContaining({ code: 'EACCES' }))
  })

  it('makes what another process makes at the same time', async () => {
    const folder = tempFolder()
    const names = Array.from({ length: 1_000 }, (_, index) => join(folder, `${index}`, 'a/b/c'))
    const script =
      'console.log("begin"); for (const name of process.argv.slice(1)) fs.mkdirSync(name, { recursive: true })'
    const other = spawn(process.execPath, ['-e', script, ...names], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(other, 'exit')
    await once(other.stdout, 'data')
    for (const name of names) makeFolder(name)
    expect(await ended).toEqual([0, null])
    for (const name of names) expect(statSync(name).isDirectory()).toBe(true)
  })
})
