import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WindowRef } from '../../src/klines/series.js'
import { Mirror } from '../../src/mirror/mirror.js'
import type { CachedWindow } from '../../src/mirror/mirror-windows.js'
import { runChild } from '../support/cli/run-child.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { whileReadOnly } from '../support/permission.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  makeTree,
  NOW,
  OPEN_WEEK,
  putFile,
  RENDERED,
  weekPath,
  weekRows,
  windowBytes,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const BASE = 'http://example.com/klines'
const DAY = 86_400_000
const week = (startDate: string): WindowRef => ({ symbol: 'BTCUSDT', interval: '15m', startDate })
const names = (folder: string) => readdirSync(folder).sort()

describe('prepare', () => {
  it.each<[string, (root: string) => void]>([
    ['an empty folder', () => {}],
    ['a missing folder', root => rmSync(root, { recursive: true })],
  ])('makes %s a mirror with mirror.json and CACHEDIR.TAG', (_, make) => {
    const root = tempFolder()
    make(root)
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(names(root)).toEqual(['.klines-tmp', 'CACHEDIR.TAG', 'mirror.json'])
    expect(JSON.parse(readFileSync(join(root, 'mirror.json'), 'utf8'))).toEqual({ layout: 1, baseUrl: BASE })
    // https://bford.info/cachedir/: the file starts with these 43 bytes.
    expect(readFileSync(join(root, 'CACHEDIR.TAG'), 'latin1').slice(0, 43)).toBe(
      'Signature: 8a477f597d28d172789f06886806bc55',
    )
  })

  it('does not tag a folder with other files, which backups must not skip', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'thesis.tex'), 'precious')
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(names(root)).toEqual(['.klines-tmp', 'mirror.json', 'thesis.tex'])
  })

  it('adopts a bare tree and changes none of its files', () => {
    const root = makeTree(tempFolder())
    const before = readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK)))
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(new Mirror(root).upkeep.readMeta()?.baseUrl).toBe(BASE)
    expect(existsSync(join(root, 'CACHEDIR.TAG'))).toBe(false)
    expect(readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK))).equals(before)).toBe(true)
  })

  it('does not change an existing mirror, also one of an earlier version', () => {
    const root = tempFolder()
    const meta = JSON.stringify({ layout: 1, baseUrl: BASE, complete: true })
    writeFileSync(join(root, 'mirror.json'), meta)
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(readFileSync(join(root, 'mirror.json'), 'utf8')).toBe(meta)
    expect(new Mirror(root).upkeep.readMeta()).toEqual({ layout: 1, baseUrl: BASE })
  })

  it('F86 gives a mirror of the exchange a layout that older versions refuse', () => {
    const root = tempFolder()
    putFile(root, 'mirror.json', { layout: 1, baseUrl: 'binance' })
    // Whoever reads changes nothing.
    expect(new Mirror(root).upkeep.readMeta()).toEqual({ layout: 1, baseUrl: 'binance' })
    expect(JSON.parse(readFileSync(join(root, 'mirror.json'), 'utf8')).layout).toBe(1)
    new Mirror(root).upkeep.prepare('binance', NOW)
    expect(new Mirror(root).upkeep.readMeta()).toEqual({ layout: 2, baseUrl: 'binance' })
  })

  it('removes leftover temp files', () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare(BASE, NOW)
    putFile(root, '.klines-tmp/4194305~00112233445566aa', 'half', NOW - 2 * 3_600_000)
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(names(join(root, '.klines-tmp'))).toEqual([])
  })

  it('rejects a mirror of another base address, naming both, with suggestions', async () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare(BASE, NOW)
    const error = await catchError(() => new Mirror(root).upkeep.prepare('http://other.example', NOW))
    expect(error).toMatchObject({
      code: 'mirror_mismatch',
      message: `${root} is a mirror of ${BASE}, not of http://other.example.`,
      suggestions: [`Name another folder with --mirror, or that address with --base-url ${BASE}.`],
    })
  })

  it('rejects the mirror.json of a newer layout and keeps it', async () => {
    const root = tempFolder()
    const text = '{"layout":3,"baseUrl":"http://example.com/klines"}'
    writeFileSync(join(root, 'mirror.json'), text)
    const error = await catchError(() => new Mirror(root).upkeep.prepare(BASE, NOW))
    expect(error).toMatchObject({ code: 'mirror_mismatch' })
    expect(error.message).toMatch(/layout 3; this version reads layouts 1 and 2\./)
    expect(names(root)).toEqual(['mirror.json'])
    expect(readFileSync(join(root, 'mirror.json'), 'utf8')).toBe(text)
  })

  it.each([
    ['without a layout', '{"baseUrl":"http://example.com/klines"}', 'it has no layout'],
    ['without a base address', '{"layout":1}', 'its base address is not valid'],
    [
      'with escape sequences',
      '{"layout":1,"baseUrl":"http://example.com/\\u001b[31m"}',
      'its base address is not valid',
    ],
    ['with a password', '{"layout":1,"baseUrl":"http://me:s3cret@example.com"}', 'its base address is not valid'],
    ['of null', 'null', 'it has no layout'],
    ['cut short', '{"layout":1,"ba', 'it is not JSON'],
    ['of zeros', '\0'.repeat(70), 'it is not JSON'],
    ['without content', '', 'it is not JSON'],
  ])('a mirror.json %s says nothing, with a warning, and is written again', (_, text, reason) => {
    const root = tempFolder()
    writeFileSync(join(root, 'mirror.json'), text)
    const mirror = new Mirror(root)
    const warnings: string[] = []
    expect(mirror.upkeep.readMeta(warning => warnings.push(warning))).toBeUndefined()
    expect(warnings).toEqual([
      `${root}/mirror.json cannot be read: ${reason}. The source of the mirror counts as unknown.`,
    ])
    mirror.upkeep.prepare(BASE, NOW)
    expect(mirror.upkeep.readMeta()).toEqual({ layout: 1, baseUrl: BASE })
  })
})

describe('checkWritable', () => {
  it.each<[string, (root: string) => string]>([
    ['a missing folder below missing ones', root => join(root, 'a', 'b')],
    ['an empty folder', root => root],
    ['a bare tree', root => makeTree(root)],
  ])('accepts %s and creates nothing', (_, make) => {
    const folder = tempFolder()
    const root = make(folder)
    const before = filesBelow(folder)
    new Mirror(root).upkeep.checkWritable(BASE, NOW)
    expect(filesBelow(folder)).toEqual(before)
    expect(names(folder)).toEqual(before.length === 0 ? [] : ['api'])
  })

  it('removes leftover temp files', () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare(BASE, NOW)
    putFile(root, '.klines-tmp/4194305~00112233445566aa', 'half', NOW - 2 * 3_600_000)
    new Mirror(root).upkeep.checkWritable(BASE, NOW)
    expect(names(join(root, '.klines-tmp'))).toEqual([])
  })

  it('rejects a mirror of another base address, and a file in the place of a folder', async () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare(BASE, NOW)
    expect(await catchError(() => new Mirror(root).upkeep.checkWritable('http://other.example', NOW))).toMatchObject({
      code: 'mirror_mismatch',
    })
    const file = join(root, 'mirror.json')
    for (const path of [file, join(file, 'below')]) {
      expect(await catchError(() => new Mirror(path).upkeep.checkWritable(BASE, NOW))).toMatchObject({
        code: 'mirror_unusable',
        message: `Cannot write the mirror ${path}: part of the path is a file (ENOTDIR).`,
        suggestions: ['Part of that path is a file: name another folder with --mirror.'],
      })
    }
  })
})

describe('a window', () => {
  const path = weekPath('BTCUSDT', FULL_WEEKS[0])
  const valid = windowBytes(weekRows(FULL_WEEKS[0]))

  it('that does not exist is missing', () => {
    expect(new Mirror(tempFolder()).windows.read(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
    expect(new Mirror('/nonexistent').windows.read(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
  })

  it('that was written is read back with its bytes, time, rows and finality', () => {
    const mirror = new Mirror(tempFolder())
    mirror.files.write(path, valid, RENDERED)
    const read = mirror.windows.read(week(FULL_WEEKS[0]))
    if (read.state !== 'cached') throw new Error(read.state)
    expect(read.batch.row(7)).toEqual(weekRows(FULL_WEEKS[0])[7])
    expect(read).toMatchObject({ mtimeMs: RENDERED, final: true })
    expect(read.batch.length).toBe(8)
    expect(readFileSync(join(mirror.root, path)).equals(valid)).toBe(true)
  })

  const flipped = Buffer.from(valid)
  flipped[20] ^= 0x10
  it.each<[string, (file: string) => unknown, RegExp]>([
    ['cut', file => writeFileSync(file, valid.subarray(0, valid.length - 10)), /not JSON/],
    ['emptied', file => writeFileSync(file, ''), /the body is empty/],
    ['flipped in one bit', file => writeFileSync(file, flipped), /BTCUSDT 15m 2025-01-06/],
    ['overwritten with zeros', file => writeFileSync(file, Buffer.alloc(valid.length)), /not JSON/],
    ["another window's", file => writeFileSync(file, windowBytes(weekRows(FULL_WEEKS[1]))), /outside the window/],
    ['a folder', file => [rmSync(file), mkdirSync(file)], /not a regular file/],
    ['a link', file => [rmSync(file), symlinkSync('/etc/hostname', file)], /not a regular file/],
  ])('that is %s is corrupt, with an error that names the fault', (_, damage, message) => {
    const root = tempFolder()
    putFile(root, path, valid)
    damage(join(root, path))
    const read = new Mirror(root).windows.read(week(FULL_WEEKS[0]))
    expect(read).toMatchObject({ state: 'corrupt', error: { code: 'bad_window' } })
    expect(read.state === 'corrupt' && read.error.message).toMatch(message)
  })

  const isFinal = (root: string, startDate: string) => {
    const read = new Mirror(root).windows.read(week(startDate))
    return read.state === 'cached' ? read.final : read
  }

  it('that is empty is final once a later one has candles and its file was rendered a day after its end', () => {
    const root = makeTree(tempFolder())
    expect(isFinal(root, EMPTY_WEEK)).toBe(true)
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [], Date.parse(FULL_WEEKS[0]) + DAY - 1000)
    expect(isFinal(root, EMPTY_WEEK)).toBe(false)
  })

  it('that is empty is not final while later ones are empty or corrupt', () => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), [])
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[1]), '[[1,2')
    putFile(root, weekPath('ETHUSDT', FULL_WEEKS[2]), weekRows(FULL_WEEKS[2]))
    putFile(root, 'api/klines/15m/BTCUSDT/2025-01-07.json', weekRows(FULL_WEEKS[0]))
    expect(isFinal(root, EMPTY_WEEK)).toBe(false)
  })

  it.each(['a folder', 'a link to a folder'])(
    'that is empty becomes final when a later one is written, while the mirror is in use (the series is %s)',
    kind => {
      const [root, elsewhere] = [tempFolder(), tempFolder()]
      mkdirSync(join(root, 'api/klines/15m'), { recursive: true })
      if (kind !== 'a folder') symlinkSync(elsewhere, join(root, 'api/klines/15m/BTCUSDT'))
      putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
      const mirror = new Mirror(root)
      const isEmptyFinal = () => (mirror.windows.read(week(EMPTY_WEEK)) as CachedWindow).final
      expect(isEmptyFinal()).toBe(false)
      putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), valid, RENDERED)
      expect(isEmptyFinal()).toBe(true)
    },
  )

  it('that has not ended is not final', () => {
    expect(isFinal(makeTree(tempFolder()), OPEN_WEEK)).toBe(false)
  })
})

describe('cachedStartDates', () => {
  it('returns the startDates of all files with the name of a window, in order', () => {
    const root = makeTree(tempFolder())
    for (const name of ['2025-01-07.json', '2025-01-06.json.bak', 'x.json', '.2025-01-06.json', '2025-13-45.json']) {
      putFile(root, `api/klines/15m/BTCUSDT/${name}`, [])
    }
    const startDates = new Mirror(root).contents.startDates({ symbol: 'BTCUSDT', interval: '15m' })
    expect(startDates).toEqual(['2024-12-30', ...FULL_WEEKS, '2025-02-10', '2025-02-17'])
    expect(new Mirror(root).contents.startDates({ symbol: 'SOLUSDT', interval: '15m' })).toEqual([])
  })
})

describe('a mirror that cannot be written', () => {
  it.each<[string, (folder: string) => string, RegExp]>([
    [
      'below a file',
      folder => {
        writeFileSync(join(folder, 'file'), 'x')
        return join(folder, 'file', 'mirror')
      },
      /: part of the path is a file \(ENOTDIR\)\.$/,
    ],
    [
      'that is a file',
      folder => {
        writeFileSync(join(folder, 'file'), 'x')
        return join(folder, 'file')
      },
      /: (there is a file of that name|part of the path is a file) \((EEXIST|ENOTDIR)\)\.$/,
    ],
  ])('%s is mirror_unusable, with advice', async (_, make, message) => {
    const root = make(tempFolder())
    for (const action of [
      () => new Mirror(root).upkeep.prepare(BASE, NOW),
      () => new Mirror(root).files.write(weekPath('BTCUSDT', OPEN_WEEK), Buffer.from('[]'), NOW),
    ]) {
      const error = await catchError(action)
      expect(error).toMatchObject({
        code: 'mirror_unusable',
        suggestions: [expect.stringContaining('--mirror')],
      })
      expect(error.message.startsWith(`Cannot write the mirror ${root}`)).toBe(true)
      expect(error.message).toMatch(message)
    }
  })

  it('without permission is mirror_unusable, with advice, and creates nothing', async () => {
    const folder = tempFolder()
    const root = join(folder, 'mirror')
    const { stdout, stderr } = await whileReadOnly(folder, () =>
      runChild('prepare-mirror.ts', [root], { withoutRoot: true }),
    )
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      code: 'mirror_unusable',
      message: `Cannot write the mirror ${root}: permission denied (EACCES).`,
      suggestions: ['Give yourself permission there, or name another folder with --mirror.'],
    })
    expect(existsSync(root)).toBe(false)
  })

  it('nor read is mirror_unusable too, not treated as corrupt', async () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare(BASE, NOW)
    chmodSync(root, 0)
    onTestFinished(() => chmodSync(root, 0o700))
    const { stdout } = await runChild('prepare-mirror.ts', [root], { withoutRoot: true })
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'mirror_unusable',
      message: `Cannot read the mirror ${root}: permission denied (EACCES).`,
    })
  })
})
