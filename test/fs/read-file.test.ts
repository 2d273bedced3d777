import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFile } from '../../src/fs/files.js'
import { tempFolder } from '../support/temp-folder.js'

describe('readFile', () => {
  it('returns missing for a missing path', () => {
    expect(readFile(join(tempFolder(), 'missing'), 16)).toEqual({ state: 'missing' })
  })

  it('returns missing below a file, where a folder should be', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'file'), 'x')
    expect(readFile(join(root, 'file', 'below'), 16)).toEqual({ state: 'missing' })
  })

  it('of an empty file returns no bytes', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'file'), '')
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
    [
      'a link, even to a valid file',
      path => {
        writeFileSync(`${path}.good`, 'good')
        symlinkSync(`${path}.good`, path)
      },
    ],
    ['a link to itself', path => symlinkSync(path, path)],
  ])('of %s returns corrupt', (_, make) => {
    const path = join(tempFolder(), 'file')
    make(path)
    expect(readFile(path, 16)).toEqual({ state: 'corrupt', reason: 'not a regular file' })
  })
})
