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
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WindowRef } from '../../src/klines/series.js'
import { type CachedWindow, Mirror } from '../../src/mirror/mirror.js'
import { runChild } from '../support/cli/run-child.js'
import { errorOf } from '../support/errors.js'
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

describe('preparing', () => {
  it.each<[string, (root: string) => void]>([
    ['an empty folder', () => {}],
    ['a folder that is not there yet', root => rmSync(root, { recursive: true })],
  ])('%s makes it a mirror: mirror.json and CACHEDIR.TAG', (_, make) => {
    const root = tempFolder()
    make(root)
    new Mirror(root).prepare(BASE, NOW)
    expect(names(root)).toEqual(['.klines-tmp', 'CACHEDIR.TAG', 'mirror.json'])
    expect(JSON.parse(readFileSync(join(root, 'mirror.json'), 'utf8'))).toEqual({
      layout: 1,
      baseUrl: BASE,
      complete: false,
    })
    // https://bford.info/cachedir/: these 43 bytes come first.
    expect(readFileSync(join(root, 'CACHEDIR.TAG'), 'latin1').slice(0, 43)).toBe(
      'Signature: 8a477f597d28d172789f06886806bc55',
    )
  })

  it('a folder that holds something else tags nothing: a backup must not pass it by', () => {
    const root = tempFolder()
    writeFileSync(join(root, 'thesis.tex'), 'precious')
    new Mirror(root).prepare(BASE, NOW)
    expect(names(root)).toEqual(['.klines-tmp', 'mirror.json', 'thesis.tex'])
  })

  it('a bare tree adopts it and changes none of its files', () => {
    const root = makeTree(tempFolder())
    const before = readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK)))
    new Mirror(root).prepare(BASE, NOW)
    expect(new Mirror(root).readMeta()?.baseUrl).toBe(BASE)
    expect(existsSync(join(root, 'CACHEDIR.TAG'))).toBe(false)
    expect(readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK))).equals(before)).toBe(true)
  })

  it('a mirror again leaves it as it is, also one that is complete', () => {
    const root = tempFolder()
    const meta = JSON.stringify({ layout: 1, baseUrl: BASE, complete: true })
    writeFileSync(join(root, 'mirror.json'), meta)
    new Mirror(root).prepare(BASE, NOW)
    expect(readFileSync(join(root, 'mirror.json'), 'utf8')).toBe(meta)
    expect(new Mirror(root).readMeta()).toEqual({ layout: 1, baseUrl: BASE, complete: true })
  })

  it('sweeps what dead processes left', () => {
    const root = tempFolder()
    new Mirror(root).prepare(BASE, NOW)
    // Beyond the largest process id there can be.
    writeFileSync(join(root, '.klines-tmp', `${hostname()}~4194305~aa`), 'half')
    new Mirror(root).prepare(BASE, NOW)
    expect(names(join(root, '.klines-tmp'))).toEqual([])
  })

  it('a mirror of another base address is refused, naming both and the ways on', async () => {
    const root = tempFolder()
    new Mirror(root).prepare(BASE, NOW)
    const error = await errorOf(() => new Mirror(root).prepare('http://other.example', NOW))
    expect(error).toMatchObject({
      code: 'mirror_mismatch',
      message: `${root} is a mirror of ${BASE}, not of http://other.example.`,
      suggestions: [`Name another folder with --mirror, or that address with --base-url ${BASE}.`],
    })
  })

  it.each([
    [
      'of a newer layout',
      '{"layout":2,"baseUrl":"http://example.com/klines"}',
      /layout 2; this version reads layout 1/,
    ],
    ['without a layout', '{"baseUrl":"http://example.com/klines"}', /layout undefined/],
    ['without a base address', '{"layout":1}', /layout 1/],
    ['of null', 'null', /layout undefined/],
    ['cut short', '{"layout":1,"ba', /cannot be read as JSON/],
    ['of nothing', '', /cannot be read as JSON/],
  ])('a mirror.json %s is refused and kept', async (_, text, words) => {
    const root = tempFolder()
    writeFileSync(join(root, 'mirror.json'), text)
    const error = await errorOf(() => new Mirror(root).prepare(BASE, NOW))
    expect(error).toMatchObject({ code: 'mirror_mismatch' })
    expect(error.message).toMatch(words)
    expect(names(root)).toEqual(['mirror.json'])
    expect(readFileSync(join(root, 'mirror.json'), 'utf8')).toBe(text)
  })
})

describe('a window', () => {
  const path = weekPath('BTCUSDT', FULL_WEEKS[0])
  const sound = windowBytes(weekRows(FULL_WEEKS[0]))

  it('that does not exist is missing', () => {
    expect(new Mirror(tempFolder()).readWindow(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
    expect(new Mirror('/nonexistent').readWindow(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
  })

  it('that was written is read back: bytes, time, rows, finality', () => {
    const mirror = new Mirror(tempFolder())
    mirror.writeBytes(path, sound, RENDERED)
    const held = mirror.readWindow(week(FULL_WEEKS[0]))
    if (held.state !== 'cached') throw new Error(held.state)
    expect(held.batch.row(7)).toEqual(weekRows(FULL_WEEKS[0])[7])
    expect(held).toMatchObject({ mtimeMs: RENDERED, final: true })
    expect(held.batch.length).toBe(8)
    expect(readFileSync(join(mirror.root, path)).equals(sound)).toBe(true)
  })

  const flipped = Buffer.from(sound)
  flipped[20] ^= 0x10
  it.each<[string, (file: string) => unknown, RegExp]>([
    ['cut', file => writeFileSync(file, sound.subarray(0, sound.length - 10)), /not JSON/],
    ['emptied', file => writeFileSync(file, ''), /the body is empty/],
    ['flipped in one bit', file => writeFileSync(file, flipped), /BTCUSDT 15m 2025-01-06/],
    ['overwritten with zeros', file => writeFileSync(file, Buffer.alloc(sound.length)), /not JSON/],
    ["another window's", file => writeFileSync(file, windowBytes(weekRows(FULL_WEEKS[1]))), /outside the window/],
    ['a folder', file => [rmSync(file), mkdirSync(file)], /not a regular file/],
    ['a link', file => [rmSync(file), symlinkSync('/etc/hostname', file)], /not a regular file/],
  ])('that is %s is an error that names the fault', (_, damage, words) => {
    const root = tempFolder()
    putFile(root, path, sound)
    damage(join(root, path))
    const held = new Mirror(root).readWindow(week(FULL_WEEKS[0]))
    expect(held).toMatchObject({ state: 'corrupt', error: { code: 'bad_window' } })
    expect(held.state === 'corrupt' && held.error.message).toMatch(words)
  })

  const finalOf = (root: string, startDate: string) => {
    const held = new Mirror(root).readWindow(week(startDate))
    return held.state === 'cached' ? held.final : held
  }

  it('that is empty is final once a later one holds candles, when its file is a day younger than its end', () => {
    const root = makeTree(tempFolder())
    expect(finalOf(root, EMPTY_WEEK)).toBe(true)
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [], Date.parse(FULL_WEEKS[0]) + DAY - 1000)
    expect(finalOf(root, EMPTY_WEEK)).toBe(false)
  })

  it('that is empty is not final while later ones are empty or broken', () => {
    const root = tempFolder()
    putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), [])
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[1]), '[[1,2')
    putFile(root, weekPath('ETHUSDT', FULL_WEEKS[2]), weekRows(FULL_WEEKS[2]))
    putFile(root, 'api/klines/15m/BTCUSDT/2025-01-07.json', weekRows(FULL_WEEKS[0]))
    expect(finalOf(root, EMPTY_WEEK)).toBe(false)
  })

  it.each(['a folder', 'a link to a folder'])(
    'that is empty turns final when a later one comes, while the mirror is in use (the series is %s)',
    kind => {
      const [root, elsewhere] = [tempFolder(), tempFolder()]
      mkdirSync(join(root, 'api/klines/15m'), { recursive: true })
      if (kind !== 'a folder') symlinkSync(elsewhere, join(root, 'api/klines/15m/BTCUSDT'))
      putFile(root, weekPath('BTCUSDT', EMPTY_WEEK), [])
      const mirror = new Mirror(root)
      const isFinal = () => (mirror.readWindow(week(EMPTY_WEEK)) as CachedWindow).final
      expect(isFinal()).toBe(false)
      mirror.writeBytes(weekPath('BTCUSDT', FULL_WEEKS[0]), sound, RENDERED)
      expect(isFinal()).toBe(true)
    },
  )

  it('that is under way is not final', () => {
    expect(finalOf(makeTree(tempFolder()), OPEN_WEEK)).toBe(false)
  })
})

describe('what is held of a series', () => {
  it('are the files that are named as windows of it, in order', () => {
    const root = makeTree(tempFolder())
    for (const name of ['2025-01-07.json', '2025-01-06.json.bak', 'x.json', '.2025-01-06.json', '2025-13-45.json']) {
      putFile(root, `api/klines/15m/BTCUSDT/${name}`, [])
    }
    const held = new Mirror(root).cachedStartDates({ symbol: 'BTCUSDT', interval: '15m' })
    expect(held).toEqual(['2024-12-30', ...FULL_WEEKS, '2025-02-10', '2025-02-17'])
    expect(new Mirror(root).cachedStartDates({ symbol: 'SOLUSDT', interval: '15m' })).toEqual([])
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
  ])('%s is mirror_unusable, with advice', async (_, make, words) => {
    const root = make(tempFolder())
    for (const action of [
      () => new Mirror(root).prepare(BASE, NOW),
      () => new Mirror(root).writeBytes(weekPath('BTCUSDT', OPEN_WEEK), Buffer.from('[]'), NOW),
    ]) {
      const error = await errorOf(action)
      expect(error).toMatchObject({
        code: 'mirror_unusable',
        suggestions: [expect.stringContaining('--mirror')],
      })
      expect(error.message.startsWith(`Cannot write the mirror ${root}`)).toBe(true)
      expect(error.message).toMatch(words)
    }
  })

  it('for want of permission is mirror_unusable, with advice, and nothing is left there', async () => {
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    const root = join(folder, 'mirror')
    const { stdout, stderr } = await runChild('prepare-mirror.ts', [root], { nobody: true })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      code: 'mirror_unusable',
      message: `Cannot write the mirror ${root}: permission denied (EACCES).`,
      suggestions: ['Give yourself permission there, or name another folder with --mirror.'],
    })
    expect(existsSync(root)).toBe(false)
  })

  it('nor read for want of permission is said so, not taken for a broken one', async () => {
    const root = tempFolder()
    new Mirror(root).prepare(BASE, NOW)
    chmodSync(root, 0o700)
    const { stdout } = await runChild('prepare-mirror.ts', [root], { nobody: true })
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'mirror_unusable',
      message: `Cannot read the mirror ${root}: permission denied (EACCES).`,
    })
  })
})
