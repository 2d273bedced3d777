import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Mirror } from '../../src/mirror/mirror.js'
import { clearMirror, planClear, pruneMirror } from '../../src/mirror/prune.js'
import { filesBelow } from '../support/files-below.js'
import { snapshot } from '../support/snapshot.js'
import { EMPTY_WEEK, FULL_WEEKS, makeTree, NOW, putFile, START_DATES, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { thrownBy } from '../support/thrown-by.js'

const BASE = 'http://example.com'
const LIST = 'api/klines/start-dates/15m.json'
const SYMBOLS_LIST = 'api/klines/symbols.json'
const DEAD = `${hostname()}~4194305~00112233445566aa`
const WINDOWS = ['BTCUSDT', 'ETHUSDT'].flatMap(symbol => START_DATES.map(date => weekPath(symbol, date)))
const prune = (root: string, dryRun = false) => pruneMirror(new Mirror(root), { dryRun, now: NOW })

/** Creates a mirror with the synthetic tree. */
function createMirror(): string {
  const root = tempFolder()
  new Mirror(root).upkeep.prepare(BASE, NOW)
  return makeTree(root)
}

describe('pruneMirror', () => {
  it('removes nothing when every file is listed', () => {
    const root = createMirror()
    const before = snapshot(root)
    expect(prune(root)).toEqual({ mirror: root, paths: [], bytes: 0, windows: 0, strays: 0 })
    expect(snapshot(root)).toEqual(before)
  })

  it('keeps the windows of an exchange that are older than any published one, also without a list', () => {
    const root = tempFolder()
    new Mirror(root).upkeep.prepare('binance', NOW)
    putFile(root, 'api/klines/15m/PEPEUSDT/2017-06-26.json', '[]')
    putFile(root, 'api/klines/15m/PEPEUSDT/2017-06-19.json', '[]')
    expect(prune(root, true).paths).toEqual(['api/klines/15m/PEPEUSDT/2017-06-19.json'])
  })

  it('removes strays, temp files of dead processes and unlisted windows, and nothing else', () => {
    const root = createMirror()
    const kept = filesBelow(root)
    const living = `.klines-tmp/${hostname()}~${process.ppid}~00112233445566aa`
    putFile(root, living, 'half')
    // Valid startDates that the service does not list.
    const unlisted = [weekPath('BTCUSDT', '2024-12-23'), weekPath('ETHUSDT', '2025-02-24')]
    const strays = ['15m/BTCUSDT/2025-01-07.json', '15m/PEPE-USDT/2025-01-06.json', 'notes/deep/a.txt', 'x.json']
    const removed = [...unlisted, ...strays.map(path => `api/klines/${path}`), `.klines-tmp/${DEAD}`]
    for (const path of removed) putFile(root, path, '12345')
    const all = filesBelow(root)
    const before = snapshot(root)

    const planned = prune(root, true)
    expect([...planned.paths].sort()).toEqual([...removed].sort())
    expect(planned.bytes).toBe(5 * removed.length)
    expect(snapshot(root)).toEqual(before)

    expect(prune(root)).toEqual(planned)
    expect(filesBelow(root)).toEqual(all.filter(path => !removed.includes(path)))
    expect(filesBelow(root)).toEqual([living, ...kept].sort())
    expect(readdirSync(join(root, 'api/klines')).sort()).toEqual(['15m', 'start-dates', 'symbols.json'])
  })

  it('without a cached list uses the startDates that this version knows', () => {
    const root = createMirror()
    putFile(root, 'api/klines/1h/BTCUSDT/2022-01-01.json', [])
    // Hourly windows of the service begin in 2022.
    putFile(root, 'api/klines/1h/BTCUSDT/2021-12-01.json', [])
    expect(prune(root).paths).toEqual(['api/klines/1h/BTCUSDT/2021-12-01.json'])
  })

  it.each<[string, (path: string) => void]>([
    ['cut', path => putFile(path, '', '["2025-01-06",')],
    ['a folder', path => mkdirSync(path)],
  ])('with a list that is %s removes nothing and suggests a repair', (_, make) => {
    const root = createMirror()
    renameSync(join(root, LIST), join(root, 'api/klines/stray.json'))
    make(join(root, LIST))
    const before = snapshot(root)
    const error = thrownBy(() => prune(root))
    expect(error).toMatchObject({ code: 'bad_list', suggestions: [expect.stringContaining('mirror verify --repair')] })
    expect(error.message).toMatch(/^api\/klines\/start-dates\/15m\.json .* nothing is removed\. .*\.$/)
    expect(snapshot(root)).toEqual(before)
  })

  it('removes a link that does not belong to the tree, and nothing that it names', () => {
    const [root, elsewhere] = [createMirror(), tempFolder()]
    putFile(elsewhere, 'thesis.tex', 'precious')
    const links = ['api/klines/15m/BTCUSDT/notes', 'api/klines/all', 'api/klines/x.json']
    for (const link of links) symlinkSync(elsewhere, join(root, link))
    const before = snapshot(elsewhere)
    expect(prune(root).paths).toEqual(links)
    expect(snapshot(elsewhere)).toEqual(before)
  })
})

describe('clearMirror', () => {
  it('removes all files of the mirror, and its folder when that is empty', () => {
    const root = createMirror()
    putFile(root, `.klines-tmp/${DEAD}`, 'half')
    mkdirSync(join(root, 'api/klines/1d/BTCUSDT'), { recursive: true })
    const files = filesBelow(root)
    const planned = planClear(new Mirror(root))
    expect([...planned.paths].sort()).toEqual(files)
    expect(clearMirror(new Mirror(root))).toEqual(planned)
    expect(existsSync(root)).toBe(false)
  })

  it('keeps all other files: beside the mirror, in api, temp files of living processes', () => {
    const [root, elsewhere] = [createMirror(), tempFolder()]
    const living = [`.klines-tmp/${hostname()}~${process.ppid}~00112233445566aa`]
    living.push(`api/klines/15m/BTCUSDT/${living[0].replace('/', '.')}`)
    const others = ['thesis.tex', 'api/openapi.json', 'api/notes/a.txt', 'klines/x.json', '.hidden', ...living]
    for (const path of others) putFile(root, path, 'precious')
    putFile(elsewhere, '2025-01-06.json', 'precious')
    symlinkSync(elsewhere, join(root, 'api/klines/somewhere'))
    symlinkSync(elsewhere, join(root, 'mine'))
    const before = snapshot(elsewhere)

    const { paths } = clearMirror(new Mirror(root))
    expect(paths).toEqual(expect.arrayContaining([...WINDOWS, LIST, SYMBOLS_LIST, 'mirror.json', 'CACHEDIR.TAG']))
    expect(snapshot(elsewhere)).toEqual(before)
    expect(filesBelow(root)).toEqual([...others, 'mine'].sort())
  })

  it('empties a mirror behind a link and keeps the link and the folder', () => {
    const folder = tempFolder()
    renameSync(createMirror(), join(folder, 'real'))
    symlinkSync('real', join(folder, 'm'))
    expect(clearMirror(new Mirror(join(folder, 'm'))).paths).toContain(weekPath('BTCUSDT', EMPTY_WEEK))
    expect(filesBelow(folder)).toEqual(['m'])
  })

  it('keeps a tag of another program', () => {
    const root = makeTree(tempFolder())
    const tag = 'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of another program.\n'
    putFile(root, 'CACHEDIR.TAG', tag)
    clearMirror(new Mirror(root))
    expect(filesBelow(root)).toEqual(['CACHEDIR.TAG'])
  })

  it('removes a folder with the path of a window, and its contents', () => {
    const root = createMirror()
    putFile(root, `${weekPath('BTCUSDT', '2025-02-24')}/deep/x`, 'x')
    expect(clearMirror(new Mirror(root)).paths).toContain(weekPath('BTCUSDT', FULL_WEEKS[0]))
    expect(existsSync(root)).toBe(false)
  })
})
