import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { WindowRef } from '../../src/candles/series.js'
import { lastModified, Mirror } from '../../src/mirror/mirror.js'
import { indexPath, laterSinces } from '../../src/mirror/series-index.js'
import type { State, WindowFacts } from '../../src/mirror/window-state.js'
import { sha256 } from '../../src/rows/fingerprint.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import {
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
const week = (startDate: string): WindowRef => ({ symbol: 'BTCUSDT', interval: '15m', startDate })
const names = (folder: string) => readdirSync(folder).sort()
const EMPTY = Buffer.from('[]')
const valid = windowBytes(weekRows(FULL_WEEKS[0]))
const factsOf = (bytes: Buffer, times: Partial<WindowFacts> = {}): WindowFacts => ({
  size: bytes.length,
  sha256: sha256(bytes),
  rendered: RENDERED,
  asked: NOW,
  ...times,
})
/** Stores an empty window, and what is known of it. */
function store(mirror: Mirror, source = BASE, startDate = FULL_WEEKS[0]): void {
  mirror.store(week(startDate), EMPTY, factsOf(EMPTY), source)
  mirror.flushAll()
}

describe('the first window', () => {
  it.each<[string, (root: string, mirror: Mirror) => void]>([
    ['an empty folder', () => {}],
    ['a missing folder', root => rmSync(root, { recursive: true })],
    [
      'one that somebody has removed meanwhile',
      (root, mirror) => [store(mirror), mirror.source, rmSync(root, { recursive: true })],
    ],
  ])('makes %s a mirror with mirror.json', (_, make) => {
    const root = tempFolder()
    const mirror = new Mirror(root)
    make(root, mirror)
    store(mirror)
    expect(names(root)).toEqual(['.klines', '.klines-tmp', 'api', 'mirror.json'])
    expect(JSON.parse(readFileSync(join(root, 'mirror.json'), 'utf8'))).toEqual({ baseUrl: BASE })
  })

  it('adopts a bare tree and changes none of its files; what a killed run has left is removed', () => {
    const root = makeTree(tempFolder())
    putFile(root, '.klines-tmp/7~00112233445566aa', 'half')
    const before = readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK)))
    store(new Mirror(root))
    expect(new Mirror(root).source).toBe(BASE)
    expect(readFileSync(join(root, weekPath('BTCUSDT', OPEN_WEEK))).equals(before)).toBe(true)
    expect(names(join(root, '.klines-tmp'))).toEqual([])
  })

  it('of another base address is refused, naming both, with suggestions', async () => {
    const root = tempFolder()
    store(new Mirror(root))
    const error = await catchError(() => store(new Mirror(root), 'http://other.example'))
    expect(error).toMatchObject({
      code: 'mirror_mismatch',
      message: `${root} is a mirror of ${BASE}, not of http://other.example.`,
      suggestions: [`Name another folder with --mirror, or that address with --base-url ${BASE}.`],
    })
  })

  it.each([
    ['without a base address', '{"layout":1}'],
    ['with escape sequences', '{"layout":1,"baseUrl":"http://example.com/\\u001b[31m"}'],
    ['with a password', '{"layout":1,"baseUrl":"http://me:s3cret@example.com"}'],
    ['of null', 'null'],
    ['cut short', '{"layout":1,"ba'],
    ['of zeros', '\0'.repeat(70)],
    ['without content', ''],
  ])('writes a mirror.json %s again, which says nothing, with a warning', (_, text) => {
    const root = tempFolder()
    writeFileSync(join(root, 'mirror.json'), text)
    const warnings: string[] = []
    const mirror = new Mirror(root, warning => warnings.push(warning))
    expect(mirror.source).toBeUndefined()
    expect(warnings[0]).toBe(`${root}/mirror.json cannot be read. The mirror's source counts as unknown.`)
    store(mirror)
    expect(new Mirror(root).source).toBe(BASE)
  })
})

describe('a window', () => {
  const path = weekPath('BTCUSDT', FULL_WEEKS[0])

  it('that does not exist is missing', () => {
    expect(new Mirror(tempFolder()).read(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
    expect(new Mirror('/nonexistent').read(week(FULL_WEEKS[0]))).toEqual({ state: 'missing' })
  })

  it('that was stored is read back with its bytes, time, rows and facts', () => {
    const mirror = new Mirror(tempFolder())
    const facts = factsOf(valid, { first: weekRows(FULL_WEEKS[0])[0][0], last: weekRows(FULL_WEEKS[0])[7][0] })
    mirror.store(week(FULL_WEEKS[0]), valid, facts, BASE)
    mirror.flushAll()
    const other = new Mirror(mirror.root)
    const read = other.read(week(FULL_WEEKS[0]))
    if (read.state !== 'cached') throw new Error(read.state)
    expect(read.batch.row(7)).toEqual(weekRows(FULL_WEEKS[0])[7])
    expect(read).toMatchObject({ mtimeMs: RENDERED })
    expect(read.batch.length).toBe(8)
    expect(other.factsOf(week(FULL_WEEKS[0]), read)).toMatchObject({ ...facts, since: RENDERED })
    expect(readFileSync(join(mirror.root, path)).equals(valid)).toBe(true)
  })

  const flipped = Buffer.from(valid)
  flipped[20] ^= 0x10
  it.each<[string, (file: string) => unknown, RegExp]>([
    ['cut', file => writeFileSync(file, valid.subarray(0, valid.length - 10)), /not JSON/],
    ['emptied', file => writeFileSync(file, ''), /the body is empty/],
    ['flipped in one bit', file => writeFileSync(file, flipped), /./],
    ['overwritten with zeros', file => writeFileSync(file, Buffer.alloc(valid.length)), /not JSON/],
    ["another window's", file => writeFileSync(file, windowBytes(weekRows(FULL_WEEKS[1]))), /outside the window/],
    ['a folder', file => [rmSync(file), mkdirSync(file)], /not a regular file/],
    ['a link to no window', file => [rmSync(file), symlinkSync('/etc/hostname', file)], /not JSON/],
    ['a link to a device', file => [rmSync(file), symlinkSync('/dev/zero', file)], /not a regular file/],
  ])('that is %s is corrupt, with a reason that names the fault', (_, damage, message) => {
    const root = tempFolder()
    putFile(root, path, valid)
    damage(join(root, path))
    const read = new Mirror(root).read(week(FULL_WEEKS[0]))
    expect(read).toMatchObject({ state: 'corrupt', reason: expect.stringMatching(message) })
  })
})

it('the dates of a series are those of all files with the name of a window, and of windows that the index knows, in order', () => {
  const root = makeTree(tempFolder())
  for (const name of ['2025-01-07.json', '2025-01-06.json.bak', 'x.json', '.2025-01-06.json', '2025-13-45.json']) {
    putFile(root, `api/klines/15m/BTCUSDT/${name}`, [])
  }
  const mirror = new Mirror(root)
  mirror.note(week('2025-02-24'), factsOf(EMPTY))
  const startDates = mirror.dates({ symbol: 'BTCUSDT', interval: '15m' })
  expect(startDates).toEqual(['2024-12-30', ...FULL_WEEKS, '2025-02-10', '2025-02-17', '2025-02-24'])
  expect(mirror.dates({ symbol: 'SOLUSDT', interval: '15m' })).toEqual([])
})

it.each<[string, string | undefined, string | undefined, string[] | undefined]>([
  ['that of the source', '["PEPEUSDT","BTCUSDT"]', '["ETHUSDT"]', ['PEPEUSDT', 'BTCUSDT']],
  ['that of the tree where it has none of the source', undefined, '["ETHUSDT"]', ['ETHUSDT']],
  ['none where it has none', undefined, undefined, undefined],
  ['none, with a warning, where it is corrupt', '["PEPE', '["ETHUSDT"]', undefined],
])('a list of a mirror is %s', (_, own, tree, expected) => {
  const root = tempFolder()
  if (own) putFile(root, '.klines/symbols.json', own)
  if (tree) putFile(root, 'api/klines/symbols.json', tree)
  const warnings: string[] = []
  expect(new Mirror(root, text => warnings.push(text)).listedSymbols()).toEqual(expected)
  expect(warnings).toHaveLength(own === '["PEPE' ? 1 : 0)
})

it('the series of a mirror are those with a window, or of which the index knows one: symbol by symbol, the ten first', () => {
  const mirror = new Mirror(tempFolder())
  store(mirror)
  for (const path of ['1h/AAAUSDT/2025-01-01', '1M/BTCUSDT/2010-01-01', `15m/ETHUSDT/${FULL_WEEKS[0]}`])
    putFile(mirror.root, `api/klines/${path}.json`, '[]')
  // No window of 15m starts on this day.
  putFile(mirror.root, 'api/klines/15m/DOTUSDT/2025-01-01.json', '[]')
  rmSync(join(mirror.root, weekPath('BTCUSDT', FULL_WEEKS[0])))
  mkdirSync(join(mirror.root, 'api/klines/1h/DOTUSDT'), { recursive: true })
  putFile(mirror.root, 'api/klines/1h/notes/2025-01-01.json', '[]')
  const series = mirror.series().map(({ symbol, interval }) => `${symbol} ${interval}`)
  expect(series).toEqual(['BTCUSDT 15m', 'BTCUSDT 1M', 'ETHUSDT 15m', 'AAAUSDT 1h'])
  expect(mirror.symbols()).toEqual(['BTCUSDT', 'ETHUSDT', 'AAAUSDT'])
  expect(mirror.symbols(['1M'])).toEqual(['BTCUSDT'])
})

describe('the index of a series', () => {
  const SERIES = { symbol: 'BTCUSDT', interval: '15m' } as const
  const [first, second, third] = FULL_WEEKS
  const asked = (root: string) => [...new Mirror(root).facts(SERIES)].map(([date, { asked }]) => [date, asked])

  it('has what any number of processes have learned; what one did not make stays as the other left it', () => {
    const root = tempFolder()
    const [a, b] = [new Mirror(root), new Mirror(root)]
    a.note(week(first), factsOf(EMPTY))
    a.note(week(second), factsOf(EMPTY))
    a.flushAll()
    expect([...b.facts(SERIES).keys()]).toEqual([first, second])
    b.note(week(first), factsOf(EMPTY, { asked: NOW + 1 }))
    a.note(week(second), factsOf(EMPTY, { asked: NOW + 2 }))
    b.note(week(third), factsOf(EMPTY))
    b.flushAll()
    a.flushAll()
    const expected = [
      [first, NOW + 1],
      [second, NOW + 2],
      [third, NOW],
    ]
    expect(asked(root)).toEqual(expected)
    expect([...b.facts(SERIES)].map(([date, { asked }]) => [date, asked])).toEqual(expected)
  })

  it('keeps every entry of a form that is known; one that is torn is made anew, with a warning', () => {
    const root = tempFolder()
    const mirror = new Mirror(root)
    for (const startDate of [first, second]) mirror.note(week(startDate), factsOf(EMPTY))
    mirror.flushAll()
    const file = join(root, indexPath(SERIES))
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(`"size":${EMPTY.length}`, '"size":"2"'))
    expect(asked(root)).toEqual([[second, NOW]])
    for (const torn of [text.slice(0, -10), '', '[]', 'null', '\0'.repeat(90)]) {
      writeFileSync(file, torn)
      const warnings: string[] = []
      const reading = new Mirror(root, warning => warnings.push(warning))
      expect(reading.facts(SERIES).size).toBe(0)
      expect(warnings).toEqual([
        `${indexPath(SERIES)} of ${root} cannot be read; it is made anew as windows are requested.`,
      ])
      reading.note(week(third), factsOf(EMPTY))
      reading.flushAll()
      expect(asked(root)).toEqual([[third, NOW]])
    }
  })

  it('keeps the least time at which a window was seen with candles, whoever has seen it', () => {
    const root = tempFolder()
    const [a, b] = [new Mirror(root), new Mirror(root)]
    const see = (mirror: Mirror, rendered: number) => mirror.note(week(first), factsOf(EMPTY, { rendered, last: 0 }))
    const known = () => new Mirror(root).facts(SERIES).get(first)
    for (const [mirror, rendered] of [
      [a, RENDERED],
      [b, RENDERED + 1],
    ] as const) {
      see(mirror, rendered)
      mirror.flushAll()
      expect(known()).toMatchObject({ rendered, since: RENDERED })
    }
    see(a, RENDERED + 2)
    see(b, RENDERED - 1)
    b.flushAll()
    a.flushAll()
    expect(known()).toMatchObject({ rendered: RENDERED + 2, since: RENDERED - 1 })
    const entries = [1, 5, 3, undefined].map(
      (since, index) => [FULL_WEEKS[index], { ...factsOf(EMPTY), since }] as const,
    )
    const sinces = laterSinces(new Map(entries.toReversed()))
    expect(FULL_WEEKS.map(date => sinces.get(date))).toEqual([3, 3, Infinity, Infinity, undefined])
  })

  it('is written when a second has passed: a run that is killed loses no more', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    onTestFinished(() => void vi.useRealTimers())
    const mirror = new Mirror(tempFolder())
    const written = [0, 1_000, 1_001, 2_001, 2_002].map((time, index) => {
      vi.setSystemTime(time)
      mirror.note(week(FULL_WEEKS[index]), factsOf(EMPTY))
      return asked(mirror.root).length
    })
    expect(written).toEqual([0, 0, 3, 3, 5])
  })

  it('knows nothing of a file that is not as it was downloaded, also one of the same size and time', () => {
    const mirror = new Mirror(tempFolder())
    mirror.store(week(first), valid, factsOf(valid), BASE)
    mirror.flushAll()
    const [file, index] = [weekPath('BTCUSDT', first), indexPath(SERIES)].map(path => join(mirror.root, path))
    const read = () => mirror.read(week(first)) as never
    expect(mirror.factsOf(week(first), read())).toMatchObject(factsOf(valid))
    expect(mirror.digest(week(first))).toBe(sha256(valid))
    for (const other of ['[]', String(valid).replace('3.50000000', '3.50000001')]) {
      // Until the clock of the disk has moved on.
      do putFile(mirror.root, weekPath('BTCUSDT', first), other)
      while (statSync(file).ctimeMs <= statSync(index).ctimeMs)
      expect(mirror.factsOf(week(first), read())).toBeUndefined()
      expect(mirror.digest(week(first))).toBe(sha256(Buffer.from(other)))
    }
  })
})

it.each<[string, number, rendered: string | undefined, State, string]>([
  ['final', 4, '2025-01-16T05:00Z', 'final', '2025-01-16T05:00Z'],
  [
    'open, and rendered late: never one that makes it final for a client',
    4,
    '2025-01-16',
    'open',
    '2025-01-13T23:59:59Z',
  ],
  ['open, and rendered before its end', 4, '2025-01-08T05:00Z', 'open', '2025-01-08T05:00Z'],
  ['not known: the close of its last candle', 4, undefined, 'open', '2025-01-09T00:15Z'],
  ['not known, and empty: its start', 0, undefined, 'open', '2025-01-06'],
])('the time that clients are told of a window that is %s', (_, days, rendered, state, expected) => {
  const window = week(FULL_WEEKS[0])
  const facts = rendered === undefined ? undefined : factsOf(valid, { rendered: Date.parse(rendered) })
  const batch = decodeWindow(windowBytes(weekRows(FULL_WEEKS[0], { days })), window)
  expect(lastModified(window, batch, facts, state)).toBe(Date.parse(expected))
})

it.each<[string, string]>([
  ['below a file', 'file/mirror'],
  ['that is a file', 'file'],
])('a mirror that cannot be written %s is mirror_unusable, with advice', async (_, path) => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), 'x')
  const root = join(folder, path)
  const error = await catchError(() => store(new Mirror(root)))
  expect(error).toMatchObject({ code: 'mirror_unusable', suggestions: [expect.stringContaining('--mirror')] })
  expect(error.message).toMatch(/: (there is a file of that name|part of the path is a file) \((EEXIST|ENOTDIR)\)\.$/)
  expect(error.message.startsWith(`Cannot write the mirror ${root}`)).toBe(true)
  expect(filesBelow(folder)).toEqual(['file'])
})
