import fs, {
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readFile } from '../../src/fs/files.js'
import { MAX_FILE_BYTES, sweepTemps, TEMP_FOLDER, writeFile } from '../../src/mirror/file-store.js'
import { cases } from '../support/cases.js'
import { catchError } from '../support/errors.js'
import { snapshot } from '../support/snapshot.js'
import { tempFolder } from '../support/temp-folder.js'
import { thrownBy } from '../support/thrown-by.js'

const MTIME = Date.UTC(2025, 1, 12, 3, 17)
const PATH = 'api/klines/1h/BTCUSDT/2024-01-01.json'

describe('writing', () => {
  it('then reading returns the same bytes and time', () => {
    const root = tempFolder()
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100_000 }),
        fc.integer({ min: 0, max: 4_000_000_000 }),
        (bytes, seconds) => {
          writeFile(root, PATH, bytes, seconds * 1000)
          const file = readFile(join(root, PATH), MAX_FILE_BYTES)
          if (file.state !== 'file') return false
          return Buffer.compare(file.bytes, bytes) === 0 && file.mtimeMs === seconds * 1000
        },
      ),
      { numRuns: cases(50, 15) },
    )
    expect(readdirSync(join(root, TEMP_FOLDER))).toEqual([])
  })

  it.each<[string, (target: string) => void]>([
    ['a folder with contents', target => mkdirSync(join(target, 'deep', 'er'), { recursive: true })],
    ['a longer file', target => writeFileSync(target, 'x'.repeat(10_000))],
  ])('replaces %s', (_, make) => {
    const root = tempFolder()
    mkdirSync(join(root, 'api'))
    make(join(root, 'api', 'file'))
    writeFile(root, 'api/file', Buffer.from('new'), MTIME)
    expect(readFileSync(join(root, 'api', 'file'), 'utf8')).toBe('new')
    expect(statSync(join(root, 'api', 'file')).isFile()).toBe(true)
  })

  it.each<[string, string, string]>([
    ['a link to a file', 'api/file', 'precious'],
    ['a link to a folder', 'api/file', '.'],
    ['below a linked folder', 'api', '.'],
    ['with a linked folder of temp files', TEMP_FOLDER, '.'],
  ])('is refused: %s', (_, link, target) => {
    const folder = tempFolder()
    const [root, elsewhere] = ['m', 'm2'].map(name => join(folder, name))
    for (const made of [root, elsewhere]) mkdirSync(made)
    writeFileSync(join(elsewhere, 'precious'), 'kept')
    if (link.includes('/')) mkdirSync(join(root, 'api'))
    symlinkSync(join(elsewhere, target), join(root, link))
    const before = [snapshot(root), snapshot(elsewhere)]
    const error = thrownBy(() => writeFile(root, 'api/file', Buffer.from('new'), MTIME))
    expect(error).toMatchObject({ code: 'linked_path', data: { link: join(root, link) } })
    expect([snapshot(root), snapshot(elsewhere)]).toEqual(before)
  })

  it('goes through a link above the root, and through one below it that stays there', () => {
    const [folder, link] = [tempFolder(), join(tempFolder(), 'm')]
    symlinkSync(folder, link)
    mkdirSync(join(folder, 'store'))
    symlinkSync('store', join(folder, 'api'))
    writeFile(link, 'api/file', Buffer.from('new'), MTIME)
    expect(readFileSync(join(folder, 'store', 'file'), 'utf8')).toBe('new')
  })

  it('that fails leaves no temp file and does not change the target', async () => {
    const root = tempFolder()
    writeFile(root, 'file', Buffer.from('old'), MTIME)
    // A time of NaN fails after the temp file is created.
    await catchError(() => writeFile(root, 'file', Buffer.from('new'), Number.NaN))
    await catchError(() => writeFile(root, 'file/below', Buffer.from('new'), MTIME))
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('old')
    expect(readdirSync(join(root, TEMP_FOLDER))).toEqual([])
  })
})

it('checks the written size: a disk that writes less than it reports leaves the old file', () => {
  const root = tempFolder()
  writeFile(root, 'file', Buffer.from('old'), MTIME)
  const { writeFileSync } = fs
  onTestFinished(() => {
    fs.writeFileSync = writeFileSync
    syncBuiltinESMExports()
  })
  fs.writeFileSync = ((path: string, bytes: Uint8Array, options: object) => {
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2)), options)
  }) as typeof fs.writeFileSync
  syncBuiltinESMExports()
  expect(() => writeFile(root, 'file', Buffer.from('[1,2,3,4]'), MTIME)).toThrow(/^Short write/)
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('old')
  expect(readdirSync(join(root, TEMP_FOLDER))).toEqual([])
})

describe('removing leftover temp files', () => {
  const now = Date.now()

  it.each<[string, string, number, boolean]>([
    ['less than an hour old', '7~00112233445566aa', 3_500, false],
    ['more than an hour old', '7~00112233445566aa', 3_700, true],
    ['without a process', 'nonsense~00112233445566aa', 86_400, false],
    ['with half of its random part', '7~00112233', 86_400, false],
    ['with more after it', '7~00112233445566aa.txt', 86_400, false],
    ['of another name, old', 'note.txt', 86_400, false],
  ])('a temp file %s', (_, name, age, isRemoved) => {
    const root = tempFolder()
    const path = join(root, TEMP_FOLDER, name)
    mkdirSync(join(root, TEMP_FOLDER))
    writeFileSync(path, 'half')
    utimesSync(path, now / 1000 - age, now / 1000 - age)
    sweepTemps(root)
    expect(existsSync(path)).toBe(!isRemoved)
  })

  it.each<[string, (path: string) => void]>([
    ['a folder', path => mkdirSync(join(path, 'deep'), { recursive: true })],
    ['a link', path => symlinkSync('../precious', path)],
  ])('leaves %s of such a name', (_, make) => {
    const root = tempFolder()
    mkdirSync(join(root, TEMP_FOLDER))
    writeFileSync(join(root, 'precious'), 'kept')
    const path = join(root, TEMP_FOLDER, '4194305~00112233445566aa')
    make(path)
    lutimesSync(path, now / 1000 - 86_400, now / 1000 - 86_400)
    const before = snapshot(root)
    sweepTemps(root)
    expect(snapshot(root)).toEqual(before)
  })
})
