import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { commitOutputs } from '../../../src/engine/output/commit.js'
import { checkTarget, OutputFile } from '../../../src/engine/output/file.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'

let folder: string
let path: string
beforeEach(() => {
  folder = tempFolder()
  path = join(folder, 'out.csv')
})

const bytes = (text: string) => new TextEncoder().encode(text)
const fileMode = (file: string) => statSync(file).mode & 0o777

async function writeUncommitted(target: string, text: string, force = false): Promise<OutputFile> {
  const file = await OutputFile.create(target, { force })
  await file.write(bytes(text))
  await file.finish()
  return file
}

async function save(target: string, text: string, force = false): Promise<OutputFile> {
  const file = await writeUncommitted(target, text, force)
  await commitOutputs([file])
  return file
}

describe('a file is the old one or the complete new one', () => {
  test('its path does not exist before commit, and no other file is left after it', async () => {
    const file = await writeUncommitted(path, 'new')
    expect(existsSync(path)).toBe(false)
    expect(readdirSync(folder)).toHaveLength(1)
    await commitOutputs([file])
    expect(readdirSync(folder)).toEqual(['out.csv'])
    expect(readFileSync(path, 'utf8')).toBe('new')
  })

  test('the bytes of all writes are counted', async () => {
    const file = await OutputFile.create(path, { force: false })
    for (const part of ['a', '', 'bcd', 'é']) await file.write(bytes(part))
    await file.finish()
    await commitOutputs([file])
    expect([file.bytes, readFileSync(path, 'utf8')]).toEqual([6, 'abcdé'])
  })

  test('the temp file is hidden in the same folder and has a unique name', async () => {
    const files = await Promise.all([
      OutputFile.create(path, { force: false }),
      OutputFile.create(path, { force: false }),
    ])
    const names = readdirSync(folder)
    expect(names).toHaveLength(2)
    for (const name of names) expect(name).toMatch(/^\.out\.csv\.\d+~[0-9a-f]{16}\.tmp$/)
    for (const file of files) await file.discard()
    expect(readdirSync(folder)).toEqual([])
  })

  test('discard leaves the old file unchanged, at any point before commit', async () => {
    writeFileSync(path, 'old')
    const begun = await OutputFile.create(path, { force: true })
    await begun.write(bytes('half'))
    await begun.discard()
    const finished = await writeUncommitted(path, 'whole', true)
    await finished.discard()
    await finished.discard()
    expect(readdirSync(folder)).toEqual(['out.csv'])
    expect(readFileSync(path, 'utf8')).toBe('old')
  })

  test('a replaced file has a new inode, so an open one keeps its bytes', async () => {
    writeFileSync(path, 'old')
    const before = statSync(path).ino
    await save(path, 'new', true)
    expect(statSync(path).ino).not.toBe(before)
  })
})

describe('a file that exists', () => {
  beforeEach(() => writeFileSync(path, 'old'))

  test('is refused without force, before any file is created', async () => {
    const expected = {
      code: 'output_exists',
      message: `${path} exists already.`,
      suggestions: ['Replace it with --force, or name another file.'],
    }
    expect(await catchError(checkTarget(path, { force: false }))).toMatchObject(expected)
    expect(await catchError(OutputFile.create(path, { force: false }))).toMatchObject(expected)
    expect(readdirSync(folder)).toEqual(['out.csv'])
  })

  test('is replaced with force', async () => {
    await checkTarget(path, { force: true })
    await save(path, 'new', true)
    expect(readFileSync(path, 'utf8')).toBe('new')
  })

  test.each(['600', '640', '644', '666', '755'])('keeps its mode %s when it is replaced', async octal => {
    const mode = Number.parseInt(octal, 8)
    chmodSync(path, mode)
    await save(path, 'new', true)
    expect(fileMode(path)).toBe(mode)
  })

  test('is kept without force even if it was created after the check', async () => {
    const other = join(folder, 'other.csv')
    const file = await writeUncommitted(other, 'mine')
    writeFileSync(other, 'theirs')
    expect((await catchError(commitOutputs([file]))).code).toBe('output_exists')
    await file.discard()
    expect(readFileSync(other, 'utf8')).toBe('theirs')
    expect(readdirSync(folder).toSorted()).toEqual(['other.csv', 'out.csv'])
  })
})

describe('a path that cannot be a file is refused', () => {
  const cases: [string, () => string, string, string][] = [
    ['a folder', () => folder, 'bad_output', 'is a folder. Expected the name of a file.'],
    ['a parent that is a file', () => join(file(), 'out.csv'), 'bad_output', 'part of the path is a file (ENOTDIR)'],
    [
      'a name too long',
      () => join(folder, `${'n'.repeat(252)}.csv`),
      'bad_output',
      'the name is too long (ENAMETOOLONG)',
    ],
  ]
  const file = () => {
    writeFileSync(path, 'old')
    return path
  }
  test.each(cases)('%s', async (_, target, code, message) => {
    for (const force of [false, true]) {
      for (const attempt of [() => checkTarget(target(), { force }), () => OutputFile.create(target(), { force })]) {
        const error = await catchError(attempt)
        expect(error.code).toBe(code)
        expect(error.message).toContain(message)
        expect(error.message).toContain(target())
      }
    }
  })

  describe('folders that are missing', () => {
    const made = () => readdirSync(folder, { recursive: true }).map(String).sort()

    test('a missing parent is accepted, and not made before there is something to write', async () => {
      await checkTarget(join(folder, 'a', 'b', 'out.csv'), {})
      expect(made()).toEqual([])
    })

    test('folders are made with the first of their files, and removed with the last', async () => {
      writeFileSync(join(folder, 'kept'), '')
      const names = ['a/b/1.csv', 'a/b/2.csv', 'a/c/3.csv']
      const files: OutputFile[] = []
      for (const name of names) files.push(await OutputFile.create(join(folder, name), {}))
      expect(made().filter(name => !name.includes('.'))).toEqual(['a', 'a/b', 'a/c', 'kept'])
      for (const file of files.toReversed()) await file.discard()
      expect(made()).toEqual(['kept'])
    })

    test('a folder that was there stays, and so does one with a file of somebody else', async () => {
      mkdirSync(join(folder, 'old'))
      for (const name of ['old/1.csv', 'new/deep/2.csv']) {
        const file = await OutputFile.create(join(folder, name), {})
        if (name.startsWith('new')) writeFileSync(join(folder, 'new', 'other'), '')
        await file.discard()
      }
      expect(made()).toEqual(['new', 'new/other', 'old'])
    })

    test('a file that cannot be put in its place leaves no folder', async () => {
      const file = await OutputFile.create(join(folder, 'a', 'b', `${'x'.repeat(300)}.csv`), {})
      await file.finish()
      expect(await catchError(commitOutputs([file]))).toMatchObject({ data: { errno: 'ENAMETOOLONG' } })
      await file.discard()
      expect(made()).toEqual([])
    })

    test('a file in the place of a folder is refused', async () => {
      writeFileSync(join(folder, 'a'), '')
      for (const attempt of [checkTarget, OutputFile.create]) {
        expect(await catchError(attempt(join(folder, 'a', 'b', 'out.csv'), {}))).toMatchObject({
          code: 'bad_output',
          data: { errno: 'ENOTDIR' },
        })
      }
    })
  })

  test('the error for a full disk says so', async () => {
    const full = await OutputFile.create('/dev/full', { force: true })
    const error = await catchError(full.write(bytes('x')))
    expect(error).toMatchObject({ code: 'output_unwritable', data: { output: '/dev/full', errno: 'ENOSPC' } })
    expect(error.message).toBe('Cannot write /dev/full: the disk is full (ENOSPC).')
    await full.discard()
  })
})

describe('unusual names are accepted', () => {
  test.each([
    ['255 bytes', `${'n'.repeat(251)}.csv`],
    ['255 bytes in 85 characters', `${'名'.repeat(83)}n.csv`],
    ['characters of four bytes', `${'😀'.repeat(62)}.csv`],
    ['spaces, quotes and a line end', ` "a'b\n.csv`],
  ])('%s', async (_, name) => {
    await save(join(folder, name), 'new')
    expect(readdirSync(folder)).toEqual([name])
  })
})

describe('a path that is not a regular file is written directly', () => {
  test('/dev/null, which stays a device', async () => {
    const file = await save('/dev/null', 'gone')
    await file.discard()
    expect(file.bytes).toBe(4)
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  test('a FIFO, whose reader receives every byte and the end', async () => {
    execFileSync('mkfifo', [path])
    const reader = readFile(path, 'utf8')
    await save(path, 'through the pipe')
    expect(await reader).toBe('through the pipe')
    expect(lstatSync(path).isFIFO()).toBe(true)
    expect(readdirSync(folder)).toEqual(['out.csv'])
  })
})

describe('a symbolic link is followed and stays', () => {
  let real: string
  beforeEach(() => {
    mkdirSync(join(folder, 'elsewhere'))
    real = join(folder, 'elsewhere', 'real.csv')
    writeFileSync(real, 'old')
    symlinkSync(join('elsewhere', 'real.csv'), path)
  })

  test('to a file: its target is replaced', async () => {
    await save(path, 'new', true)
    expect(readlinkSync(path)).toBe(join('elsewhere', 'real.csv'))
    expect(readFileSync(real, 'utf8')).toBe('new')
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['real.csv'])
  })

  test('to a file: refused without force', async () => {
    expect((await catchError(checkTarget(path, { force: false }))).code).toBe('output_exists')
  })

  test('to a folder: refused as a folder', async () => {
    const link = join(folder, 'link')
    symlinkSync('elsewhere', link)
    expect((await catchError(checkTarget(link, { force: true }))).message).toContain('is a folder')
  })
})
