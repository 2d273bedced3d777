import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Mirror } from '../../src/mirror/mirror.js'
import { clearMirror, mirrorContents, pruneMirror } from '../../src/mirror/prune.js'
import { filesBelow } from '../support/cli/cli-sandbox.js'
import { snapshot } from '../support/snapshot.js'
import { EMPTY_WEEK, FULL_WEEKS, makeTree, NOW, putFile, START_DATES, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { thrownBy } from '../support/thrown-by.js'

const BASE = 'http://example.com'
const LIST = 'api/klines/start-dates/15m.json'
const SYMBOLS_LIST = 'api/klines/symbols.json'
const DEAD = `${hostname()}~4194305~aa`
const WINDOWS = ['BTCUSDT', 'ETHUSDT'].flatMap(symbol => START_DATES.map(date => weekPath(symbol, date)))
const prune = (root: string, dryRun = false) => pruneMirror(new Mirror(root), { dryRun, now: NOW })

/** A mirror with all that the made tree has. */
function madeMirror(): string {
  const root = tempFolder()
  new Mirror(root).prepare(BASE, NOW)
  return makeTree(root)
}

describe('pruning', () => {
  it('removes nothing where every file has its place', () => {
    const root = madeMirror()
    const before = snapshot(root)
    expect(prune(root)).toEqual({ mirror: root, paths: [], bytes: 0, outside: [] })
    expect(snapshot(root)).toEqual(before)
  })

  it('removes strays, leftovers of dead processes and windows that no list names, and nothing else', () => {
    const root = madeMirror()
    const kept = filesBelow(root)
    const living = `.klines-tmp/${hostname()}~${process.ppid}~aa`
    putFile(root, living, 'half')
    // Weeks of the interval's cycle, off the service's list.
    const unnamed = [weekPath('BTCUSDT', '2024-12-23'), weekPath('ETHUSDT', '2025-02-24')]
    const strays = ['15m/BTCUSDT/2025-01-07.json', '15m/PEPEUSDT/2025-01-06.json', 'notes/deep/a.txt', 'x.json']
    const gone = [...unnamed, ...strays.map(path => `api/klines/${path}`), `.klines-tmp/${DEAD}`]
    for (const path of gone) putFile(root, path, '12345')
    const all = filesBelow(root)
    const before = snapshot(root)

    const planned = prune(root, true)
    expect([...planned.paths].sort()).toEqual([...gone].sort())
    expect(planned.bytes).toBe(5 * gone.length)
    expect(snapshot(root)).toEqual(before)

    expect(prune(root)).toEqual(planned)
    expect(filesBelow(root)).toEqual(all.filter(path => !gone.includes(path)))
    expect(filesBelow(root)).toEqual([living, ...kept].sort())
    expect(readdirSync(join(root, 'api/klines')).sort()).toEqual(['15m', 'start-dates', 'symbols.json'])
  })

  it('without a list goes by the windows that there are as observed', () => {
    const root = madeMirror()
    putFile(root, 'api/klines/1h/BTCUSDT/2022-01-01.json', [])
    // Hourly candles begin in 2022 (observed.md).
    putFile(root, 'api/klines/1h/BTCUSDT/2021-12-01.json', [])
    expect(prune(root).paths).toEqual(['api/klines/1h/BTCUSDT/2021-12-01.json'])
  })

  it.each<[string, (path: string) => void]>([
    ['cut', path => putFile(path, '', '["2025-01-06",')],
    ['a folder', path => mkdirSync(path)],
    ['a link', path => symlinkSync('/etc/hostname', path)],
  ])('with a list that is %s removes nothing and says how to mend it', (_, make) => {
    const root = madeMirror()
    renameSync(join(root, LIST), join(root, 'api/klines/stray.json'))
    make(join(root, LIST))
    const before = snapshot(root)
    const error = thrownBy(() => prune(root))
    expect(error).toMatchObject({ code: 'bad_list', suggestions: [expect.stringContaining('mirror verify --repair')] })
    expect(error.message).toMatch(/^api\/klines\/start-dates\/15m\.json .* nothing is removed\. .*\.$/)
    expect(snapshot(root)).toEqual(before)
  })

  it('removes nothing that is reached through a link, and a link in nobody’s place itself', () => {
    const [root, elsewhere] = [madeMirror(), tempFolder()]
    putFile(elsewhere, 'series/thesis.tex', 'precious')
    putFile(elsewhere, 'series/2025-02-24.json', [])
    symlinkSync(join(elsewhere, 'series'), join(root, 'api/klines/15m/SOLUSDT'))
    symlinkSync(elsewhere, join(root, 'api/klines/all'))
    symlinkSync('15m', join(root, 'api/klines/30m'))
    const before = snapshot(elsewhere)
    const { paths, outside } = prune(root)
    expect(paths).toEqual(['api/klines/all'])
    // By the list of 30m candles, every other week of the 15m windows behind that link has no place there.
    expect(outside).toContain(weekPath('BTCUSDT', FULL_WEEKS[0]).replace('15m', '30m'))
    expect(outside).toContain('api/klines/15m/SOLUSDT/thesis.tex')
    expect(snapshot(elsewhere)).toEqual(before)
    expect(filesBelow(join(root, 'api/klines/15m/ETHUSDT'))).toHaveLength(START_DATES.length)
  })
})

describe('clearing', () => {
  it('removes all that is the mirror’s, and its folder when nothing else is in it', () => {
    const root = madeMirror()
    putFile(root, `.klines-tmp/${DEAD}`, 'half')
    mkdirSync(join(root, 'api/klines/1d/BTCUSDT'), { recursive: true })
    const files = filesBelow(root)
    const planned = mirrorContents(new Mirror(root))
    expect([...planned.paths].sort()).toEqual(files)
    expect(clearMirror(new Mirror(root))).toEqual(planned)
    expect(existsSync(root)).toBe(false)
  })

  it('leaves what is not the mirror’s, wherever: beside it, in api, through links, temp files of living processes', () => {
    const [root, elsewhere] = [madeMirror(), tempFolder()]
    const living = `.klines-tmp/${hostname()}~${process.ppid}~aa`
    const others = ['thesis.tex', 'api/openapi.json', 'api/notes/a.txt', 'klines/x.json', '.hidden', living]
    for (const path of others) putFile(root, path, 'precious')
    putFile(elsewhere, '2025-01-06.json', 'precious')
    putFile(root, 'mine/thesis.tex', 'precious')
    symlinkSync(elsewhere, join(root, 'api/klines/15m/SOLUSDT'))
    symlinkSync('../../../mine', join(root, 'api/klines/15m/ADAUSDT'))
    symlinkSync(elsewhere, join(root, 'api/klines/somewhere'))
    symlinkSync(join(elsewhere, '2025-01-06.json'), join(root, weekPath('BTCUSDT', '2025-02-24')))
    const before = snapshot(elsewhere)

    const { paths, outside } = clearMirror(new Mirror(root))
    expect([...outside].sort()).toEqual(['api/klines/15m/ADAUSDT/thesis.tex', 'api/klines/15m/SOLUSDT/2025-01-06.json'])
    expect(paths).toEqual(expect.arrayContaining([...WINDOWS, LIST, SYMBOLS_LIST, 'mirror.json', 'CACHEDIR.TAG']))
    expect(snapshot(elsewhere)).toEqual(before)
    const links = ['api/klines/15m/ADAUSDT', 'api/klines/15m/SOLUSDT']
    expect(filesBelow(root)).toEqual([...others, 'mine/thesis.tex', ...links].sort())
  })

  it('of a tree that is linked as a whole leaves the tree', () => {
    const [root, elsewhere] = [tempFolder(), makeTree(tempFolder())]
    symlinkSync(join(elsewhere, 'api'), join(root, 'api'))
    new Mirror(root).prepare(BASE, NOW)
    const before = snapshot(elsewhere)
    expect(clearMirror(new Mirror(root)).paths).toEqual(['mirror.json'])
    expect(snapshot(elsewhere)).toEqual(before)
  })

  it('through a link to the mirror empties it and leaves link and folder', () => {
    const folder = tempFolder()
    renameSync(madeMirror(), join(folder, 'real'))
    symlinkSync('real', join(folder, 'm'))
    expect(clearMirror(new Mirror(join(folder, 'm'))).paths).toContain(weekPath('BTCUSDT', EMPTY_WEEK))
    expect(filesBelow(folder)).toEqual(['m'])
  })

  it('leaves a tag that another program has put there', () => {
    const root = makeTree(tempFolder())
    const tag = 'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of another program.\n'
    putFile(root, 'CACHEDIR.TAG', tag)
    clearMirror(new Mirror(root))
    expect(filesBelow(root)).toEqual(['CACHEDIR.TAG'])
  })

  it('removes a folder that stands in the place of a window, with what is in it', () => {
    const root = madeMirror()
    putFile(root, `${weekPath('BTCUSDT', '2025-02-24')}/deep/x`, 'x')
    expect(clearMirror(new Mirror(root)).paths).toContain(weekPath('BTCUSDT', FULL_WEEKS[0]))
    expect(existsSync(root)).toBe(false)
  })
})
