import fs, { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isSameVersion, readFile } from '../../src/fs/files.js'
import { makeFolder } from '../../src/fs/folders.js'
import { tempFolder } from '../support/temp-folder.js'

describe('readFile', () => {
  it('returns missing for a missing path, also below a file, and no bytes of an empty file', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'file'), '')
    for (const path of ['missing', 'file/below']) expect(readFile(join(root, path), 16)).toEqual({ state: 'missing' })
    expect(readFile(join(root, 'file'), 16)).toMatchObject({ state: 'file', bytes: Buffer.alloc(0) })
  })

  it('reads a file of the size that is expected at most, and not a larger one', () => {
    const path = join(tempFolder(), 'file')
    writeFileSync(path, '0123456789abcdef')
    expect(readFile(path, 16)).toMatchObject({ state: 'file', size: 16, bytes: Buffer.from('0123456789abcdef') })
    expect(readFile(path, 15)).toEqual({ state: 'corrupt', reason: 'a file of 16 bytes; expected at most 15' })
  })

  it.each<[string, (path: string) => void]>([
    ['a folder', path => mkdirSync(path)],
    ['a link to a folder', path => symlinkSync('.', path)],
    ['a device', path => symlinkSync('/dev/zero', path)],
  ])('of %s returns corrupt', (_, make) => {
    const path = join(tempFolder(), 'file')
    make(path)
    expect(readFile(path, 16)).toEqual({ state: 'corrupt', reason: 'not a regular file' })
  })

  it('reads through links to a regular file, and names the target of one to nothing', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'store'), 'good')
    symlinkSync('store', join(root, 'inner'))
    symlinkSync(join(root, 'inner'), join(root, 'file'))
    expect(readFile(join(root, 'file'), 16)).toMatchObject({ state: 'file', size: 4, bytes: Buffer.from('good') })
    expect(readFile(join(root, 'file'), 3)).toMatchObject({ state: 'corrupt' })
    rmSync(join(root, 'store'))
    expect(readFile(join(root, 'file'), 16)).toEqual({
      state: 'missing',
      reason: `a link to ${join(root, 'inner')}, which is not there`,
    })
  })
})

it('a file is another version when it is another file, or its size, its time or its last change is another', () => {
  const version = { ino: 1, size: 2, mtimeMs: 3, ctimeMs: 4 }
  for (const key of ['ino', 'size', 'mtimeMs', 'ctimeMs'])
    expect(isSameVersion(version, { ...version, [key]: 5 }), key).toBe(false)
  expect([isSameVersion(version, { ...version }), isSameVersion(version, undefined)]).toEqual([true, false])
})

it('a folder that another process makes at the same time is there', () => {
  const folder = join(tempFolder(), 'a', 'b')
  const { mkdirSync } = fs
  onTestFinished(() => {
    fs.mkdirSync = mkdirSync
    syncBuiltinESMExports()
  })
  fs.mkdirSync = ((path: string) => {
    mkdirSync(path)
    return mkdirSync(path)
  }) as typeof fs.mkdirSync
  syncBuiltinESMExports()
  makeFolder(folder)
  expect(existsSync(folder)).toBe(true)
})
