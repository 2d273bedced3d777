import { execFileSync, spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkDistinct } from '../../../src/export/output/same-file.js'
import { builtScript } from '../../support/cli/built-script.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'

let folder: string
beforeEach(() => {
  folder = tempFolder()
})
const path = (name: string) => join(folder, name)

describe('F62 two targets that are one file are refused:', () => {
  const makeFile = () => writeFileSync(path('a.csv'), 'old')
  test.each<[string, string, () => void]>([
    [
      'a symbolic link',
      'b.csv',
      () => {
        makeFile()
        symlinkSync('a.csv', path('b.csv'))
      },
    ],
    [
      'a hard link',
      'b.csv',
      () => {
        makeFile()
        linkSync(path('a.csv'), path('b.csv'))
      },
    ],
    ['another path to a file', './a.csv', makeFile],
    ['another path to a new file', './a.csv', () => {}],
    ['another path through a folder that is missing', 'none/../a.csv', () => {}],
    ['a new file in a folder and in a link to the folder', 'link/a.csv', () => symlinkSync('.', path('link'))],
    [
      'a FIFO and a link to it',
      'b.csv',
      () => {
        execFileSync('mkfifo', [path('a.csv')])
        symlinkSync('a.csv', path('b.csv'))
      },
    ],
  ])('%s', async (_, other, prepare) => {
    prepare()
    const before = readdirSync(folder)
    const paths = [path('a.csv'), `${folder}/${other}`]
    for (const [first, second] of [paths, paths.toReversed()]) {
      const error = await catchError(checkDistinct([path('c.csv'), first, second]))
      expect(error).toMatchObject({ code: 'bad_output', data: { outputs: [first, second] } })
      expect(error.message).toBe(
        `${first} and ${second} are the same file, which would get the candles of only one of them.`,
      )
    }
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe('different files are accepted:', () => {
  test('new ones and existing ones, and files of one name in two folders', async () => {
    for (const name of ['one', 'two']) mkdirSync(path(name))
    writeFileSync(path('a.csv'), 'old')
    await checkDistinct(['a.csv', 'b.csv', 'one/a.csv', 'two/a.csv', 'two/b.csv'].map(path))
    await checkDistinct([path('a.csv')])
  })

  test.each([
    ['case', '1m.csv', '1M.csv'],
    ['normal form', '\u00e9.csv', 'e\u0301.csv'],
  ])('names that differ in %s only, where that makes them two', async (_, first, second) => {
    await checkDistinct([path(first), path(second)])
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    ['none/1m.csv', 'none/1M.csv'],
    ['1m/a.csv', '1M/a.csv'],
  ])('those in folders that do not exist, where case makes them two: %s and %s', async (first, second) => {
    await checkDistinct([path(first), path(second)])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('F62 names that differ in case only are refused on a disk without upper and lower case', () => {
  let script: string
  beforeAll(async () => {
    script = await builtScript('check-distinct.ts')
  })
  const PRELOAD = new URL('../../faults/support/case-blind-fs.mjs', import.meta.url).pathname
  const check = (names: readonly string[], preloads: readonly string[] = []) => {
    const imports = preloads.flatMap(name => ['--import', name])
    const { stdout, stderr } = spawnSync(process.execPath, [...imports, script, ...names], { encoding: 'utf8' })
    return stdout + stderr
  }

  test.each([
    ['new files', '1m.csv', '1M.csv', () => {}],
    ['a new file and an existing one', '1m.csv', '1M.csv', () => writeFileSync(path('1m.csv'), 'old')],
    ['new files in two normal forms', '\u00e9.csv', 'e\u0301.csv', () => {}],
    ['new files in a new folder', 'new/1m.csv', 'new/1M.csv', () => {}],
    ['new files in new folders', '1m/a.csv', '1M/a.csv', () => {}],
    ['new files deep in new folders', 'new/1m/x/a.csv', 'new/1M/X/A.csv', () => {}],
    ['new files in a new folder and an existing one', '1m/a.csv', '1M/a.csv', () => mkdirSync(path('1m'))],
  ])('%s (a simulated disk)', (_, first, second, prepare) => {
    prepare()
    const before = readdirSync(folder)
    expect(check([path(first), path(second)], [PRELOAD])).toBe('bad_output\n')
    expect(check([path(first), path(second)])).toBe('none\n')
    expect(readdirSync(folder)).toEqual(before)
  })

  test('new files of one name in other new folders are accepted (a simulated disk)', () => {
    const names = ['1m/a.csv', '1d/a.csv', '1m/b.csv', 'x/1m/a.csv']
    expect(check(names.map(path), [PRELOAD])).toBe('none\n')
  })

  test('new files (an ext4 folder with case folding)', ({ skip }) => {
    const image = path('image')
    writeFileSync(image, '')
    truncateSync(image, 16 * 1024 * 1024)
    mkdirSync(path('disk'))
    const script = `mkfs.ext4 -q -O casefold '${image}' && mount -o loop '${image}' '${path('disk')}' && mkdir '${path('disk/f')}' && chattr +F '${path('disk/f')}'`
    const mounted = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
    try {
      if (mounted.status !== 0) skip(`needs root, mkfs.ext4 and a kernel with CONFIG_UNICODE: ${mounted.stderr.trim()}`)
      expect(check([path('disk/f/1m.csv'), path('disk/f/1M.csv')])).toBe('bad_output\n')
      expect(check([path('disk/f/1m/a.csv'), path('disk/f/1M/a.csv')])).toBe('bad_output\n')
      expect(readdirSync(path('disk/f'))).toEqual([])
    } finally {
      spawnSync('umount', [path('disk')])
    }
  })
})
