import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  checkTarget,
  commitFiles,
  type FileOptions,
  openFile,
  prepareFile,
  withPlaces,
} from '../../src/engine/output-file.js'
import { catchError } from '../support/errors.js'
import { tempFolder } from '../support/temp-folder.js'

let folder: string
let path: string
beforeEach(() => {
  folder = tempFolder()
  path = join(folder, 'out.csv')
})

/** A file being written, and its place. */
async function create(target: string, options: FileOptions) {
  const at = await prepareFile(target, options)
  const output = await openFile(at)
  const discard = output.discard.bind(output)
  return Object.assign(output, { at, discard: () => withPlaces([at], discard) })
}

const bytes = (text: string) => new TextEncoder().encode(text)
const fileMode = (file: string) => statSync(file).mode & 0o777

async function writeUncommitted(target: string, text: string, force = false): ReturnType<typeof create> {
  const file = await create(target, { force })
  await file.write(bytes(text))
  await file.finish()
  return file
}

async function save(target: string, text: string, force = false): ReturnType<typeof create> {
  const file = await writeUncommitted(target, text, force)
  await commitFiles([file.at])
  return file
}

describe('a file is the old one or the complete new one', () => {
  test('its path does not exist before commit, and no other file is left after it', async () => {
    const file = await writeUncommitted(path, 'new')
    expect(existsSync(path)).toBe(false)
    expect(readdirSync(folder)).toHaveLength(1)
    await commitFiles([file.at])
    expect(readdirSync(folder)).toEqual(['out.csv'])
    expect(readFileSync(path, 'utf8')).toBe('new')
    expect(fileMode(path)).toBe(0o666 & ~process.umask())
  })

  test('discard leaves the old file unchanged, at any point before commit', async () => {
    writeFileSync(path, 'old')
    const begun = await create(path, { force: true })
    await begun.write(bytes('half'))
    await begun.discard()
    const finished = await writeUncommitted(path, 'whole', true)
    await finished.discard()
    await finished.discard()
    expect(readdirSync(folder)).toEqual(['out.csv'])
    expect(readFileSync(path, 'utf8')).toBe('old')
  })
})

describe('a file that exists', () => {
  beforeEach(() => writeFileSync(path, 'old'))

  test.each(['600', '644'])('keeps its mode %s when it is replaced', async octal => {
    const mode = Number.parseInt(octal, 8)
    chmodSync(path, mode)
    await save(path, 'new', true)
    expect(fileMode(path)).toBe(mode)
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
      for (const attempt of [() => checkTarget(target()), () => create(target(), { force })]) {
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
      await checkTarget(join(folder, 'a', 'b', 'out.csv'))
      expect(made()).toEqual([])
    })

    test('folders are made with the first of their files, and removed with the last', async () => {
      writeFileSync(join(folder, 'kept'), '')
      const names = ['a/b/1.csv', 'a/b/2.csv', 'a/c/3.csv']
      const files: Awaited<ReturnType<typeof create>>[] = []
      for (const name of names) files.push(await create(join(folder, name), {}))
      expect(made().filter(name => !name.includes('.'))).toEqual(['a', 'a/b', 'a/c', 'kept'])
      for (const file of files.toReversed()) await file.discard()
      expect(made()).toEqual(['kept'])
    })

    test('a folder that was there stays, and so does one with a file of somebody else', async () => {
      mkdirSync(join(folder, 'old'))
      for (const name of ['old/1.csv', 'new/deep/2.csv']) {
        const file = await create(join(folder, name), {})
        if (name.startsWith('new')) writeFileSync(join(folder, 'new', 'other'), '')
        await file.discard()
      }
      expect(made()).toEqual(['new', 'new/other', 'old'])
    })
  })
})

test.each([
  ['255 bytes', `${'n'.repeat(251)}.csv`],
  ['60 characters of four bytes', `${'🕯'.repeat(60)}.csv`],
  ['spaces, quotes and a line end', ` "a'b\n.csv`],
])('unusual names are accepted %s', async (_, name) => {
  await save(join(folder, name), 'new')
  expect(readdirSync(folder)).toEqual([name])
})
