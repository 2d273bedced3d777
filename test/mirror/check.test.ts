import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkMirror } from '../../src/mirror/check.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { cases } from '../support/full.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { snapshot } from '../support/snapshot.js'
import {
  candle,
  FULL_WEEKS,
  makeTree,
  NOW,
  putFile,
  type Row,
  START_DATES,
  weekPath,
  weekRows,
  windowBytes,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const LIST = 'api/klines/start-dates/15m.json'
const [WEEK, NEXT_WEEK] = FULL_WEEKS
const PATH = weekPath('BTCUSDT', WEEK)
/** Beyond the largest process id there can be. */
const DEAD = 4_194_305

const verify = (root: string) => checkMirror(new Mirror(root), { now: NOW })

/** The corrupt paths with their reasons. */
async function findFaults(root: string): Promise<Record<string, string>> {
  const { corrupt } = await verify(root)
  return Object.fromEntries(corrupt.map(({ path, reason }) => [path, reason]))
}

describe('a valid mirror', () => {
  it.skipIf(!hasRealTree)('counts every file and candle of a real tree (skipped without ../shared/data)', async () => {
    const expected = Object.values(expectedSeries()).flatMap(Object.values)
    const report = await verify(realTree())
    expect(report).toMatchObject({ files: 5_344, candles: 609_662, corrupt: [], strays: [] })
    expect(report.windows).toBe(expected.reduce((sum, { windows }) => sum + windows, 0))
    expect(report.candles).toBe(expected.reduce((sum, { rows }) => sum + rows, 0))
    const size = execFileSync('bash', ['-c', `find ${realTree()}/api/klines -type f -printf '%s\\n'`], {
      encoding: 'utf8',
    })
    expect(report.bytes).toBe(
      size
        .trim()
        .split('\n')
        .reduce((sum, bytes) => sum + Number(bytes), 0),
    )
  })

  it('is counted, with progress, and not changed', async () => {
    const root = makeTree(tempFolder())
    putFile(root, weekPath('BTCUSDT', WEEK), JSON.stringify(weekRows(WEEK), null, 2))
    putFile(root, `.klines-tmp/${hostname()}~${process.ppid}~00112233445566aa`, 'half')
    const before = snapshot(root)
    const seen: number[][] = []
    const report = await checkMirror(new Mirror(root), { progress: (...counts) => seen.push(counts) })
    expect(report).toMatchObject({ mirror: root, files: 18, windows: 16, candles: 84, corrupt: [], strays: [] })
    expect(seen).toEqual(Array.from({ length: 18 }, (_, index) => [index + 1, 18]))
    expect(snapshot(root)).toEqual(before)
  })
})

describe('a corrupt file is named with the reason', () => {
  const valid = windowBytes(weekRows(WEEK))

  it('a window cut at any byte', async () => {
    const root = tempFolder()
    const stride = cases(1, 9)
    for (let length = 0; length < valid.length; length += length < 20 ? 1 : stride) {
      putFile(root, PATH, valid.subarray(0, length))
      const reason = length === 0 ? /^the body is empty$/ : /^the body is not JSON \(it starts with/
      expect((await findFaults(root))[PATH], `${length} bytes`).toMatch(reason)
    }
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['of the week after', windowBytes(weekRows(NEXT_WEEK)), /^row 0, .*is outside the window/],
    ['of zeros only', Buffer.alloc(500), /not JSON/],
    ['that is a web page', '<!DOCTYPE html><p>Not found</p>', /web page/],
    ['that is an object', '{"a":1}', /array of rows/],
    ['with a row twice', windowBytes(weekRows(WEEK).flatMap(row => [row, row])), /^row 1, .*does not come after/],
    [
      'with a candle off the grid',
      windowBytes([candle(Date.parse(WEEK)).with(0, Date.parse(WEEK) + 1) as Row]),
      /^row 0, .*not on the grid/,
    ],
  ])('a window %s', async (_, content, reason) => {
    const root = makeTree(tempFolder())
    putFile(root, PATH, content)
    expect(await findFaults(root)).toEqual({ [PATH]: expect.stringMatching(reason) })
  })

  it.each<[string, (file: string) => unknown]>([
    ['a folder', file => mkdirSync(join(file, 'deep'), { recursive: true })],
    [
      'a link to a valid file',
      file => {
        const target = join(tempFolder(), 'good')
        writeFileSync(target, file.includes('BTC') ? valid : JSON.stringify(START_DATES))
        symlinkSync(target, file)
      },
    ],
    ['a link to nothing', file => symlinkSync('nowhere', file)],
    ['a link to itself', file => symlinkSync(file, file)],
  ])('%s in the place of a window or a list', async (_, make) => {
    const root = makeTree(tempFolder())
    for (const path of [PATH, LIST]) {
      rmSync(join(root, path))
      make(join(root, path))
    }
    expect(await findFaults(root)).toEqual({ [PATH]: 'not a regular file', [LIST]: 'not a regular file' })
  })

  it.each<[string, string, string, RegExp]>([
    ['cut', LIST, '["2025-01-06","2025', /not JSON/],
    ['empty', LIST, '', /not JSON/],
    ['with a path instead of a date', LIST, '["../../../../etc/passwd"]', /entry 0 is "..*", not a date/],
    ['with a day no window starts on', LIST, '["2025-01-07"]', /no window of 7 days starts/],
    ['out of order', LIST, '["2025-01-13","2025-01-06"]', /does not come after/],
    ['of numbers', LIST, '[1]', /not a string/],
    ['cut', 'api/klines/symbols.json', '["BTCU', /not JSON/],
    ['with a hostile name', 'api/klines/symbols.json', '["../x"]', /not a symbol/],
  ])('a list that is %s (%s)', async (_, path, content, reason) => {
    const root = makeTree(tempFolder())
    putFile(root, path, content)
    expect(await findFaults(root)).toEqual({ [path]: expect.stringMatching(reason) })
  })

  it('temp files of dead processes, but not of living ones nor fresh ones of other machines', async () => {
    const root = makeTree(tempFolder())
    const dead = `.klines-tmp/${hostname()}~${DEAD}~00112233445566aa`
    for (const name of [
      `${hostname()}~${process.pid}~00112233445566aa`,
      `${hostname()}~${process.ppid}~00112233445566aa`,
      `elsewhere~${DEAD}~00112233445566aa`,
    ]) {
      putFile(root, `.klines-tmp/${name}`, 'half', NOW)
    }
    putFile(root, dead, 'half', NOW)
    expect(await findFaults(root)).toEqual({ [dead]: 'a temp file of a process that is gone' })
  })

  it('but a file of another name is a stray, and so is a link that leads elsewhere or in a circle', async () => {
    const [root, elsewhere] = [makeTree(tempFolder()), tempFolder()]
    putFile(elsewhere, 'private.txt', 'x')
    const strays = ['15m/BTCUSDT/2025-01-07.json', '15m/BTCUSDT/2025-01-06.json.bak', '15m/XYZ-USDT/2025-01-06.json']
    for (const path of [...strays, 'notes/a.txt', 'start-dates/1m.json']) putFile(root, `api/klines/${path}`, '[[')
    symlinkSync(elsewhere, join(root, 'api/klines/elsewhere'))
    symlinkSync('.', join(root, 'api/klines/circle'))
    symlinkSync('..', join(root, 'api/klines/15m/ETHUSDT/up'))
    const others = ['notes/a.txt', 'start-dates/1m.json', 'elsewhere', 'circle', '15m/ETHUSDT/up']
    const report = await verify(root)
    expect(report).toMatchObject({ files: 18, corrupt: [] })
    expect([...report.strays].sort()).toEqual([...strays, ...others].map(path => `api/klines/${path}`).sort())
  })
})

describe('while other processes change the mirror', () => {
  it('files may vanish or become folders', async () => {
    const root = makeTree(tempFolder())
    const late = weekPath('ETHUSDT', START_DATES[2])
    const { files, corrupt } = await checkMirror(new Mirror(root), {
      progress: done => {
        if (done !== 1) return
        rmSync(join(root, 'api/klines/15m/BTCUSDT'), { recursive: true })
        rmSync(join(root, 'api/klines/start-dates'), { recursive: true })
        rmSync(join(root, late))
        mkdirSync(join(root, late))
      },
    })
    expect(corrupt.map(({ path }) => path)).toEqual([late])
    expect(files).toBe(1 + 8 + 1)
  })

  it('an abort ends the check soon, with its reason', async () => {
    const root = tempFolder()
    cpSync(SAMPLE_TREE, root, { recursive: true })
    const [controller, reason] = [new AbortController(), new Error('enough')]
    let last = 0
    const progress = (done: number) => {
      last = done
      if (done === 5) controller.abort(reason)
    }
    await expect(checkMirror(new Mirror(root), { signal: controller.signal, progress })).rejects.toBe(reason)
    expect(last).toBeLessThanOrEqual(32)
    await expect(checkMirror(new Mirror(root), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})
