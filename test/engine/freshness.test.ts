import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dryRun, exportKlines } from '../../src/engine/export.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { lockKlines } from '../../src/identity/lock.js'
import { downloadSetup, readJson } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { whileReadsFail } from '../support/failing-reads.js'
import { filesBelow } from '../support/files-below.js'
import {
  candle,
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  NOW,
  OPEN_WEEK,
  putFile,
  RENDERED,
  STARTED,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

const LIST = 'api/klines/start-dates/15m.json'
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
const DAY = 86_400_000
/** Windows that are not final on the day of the first download: later candles are known since that day. */
const OPEN = [EMPTY_WEEK, OPEN_WEEK].map(path)

describe('a first run', () => {
  it('requests the list and every window that has started, once and unconditionally', async () => {
    const { server, request } = await downloadSetup()
    const report = await downloadKlines(request)
    expect(server.paths().sort()).toEqual([...STARTED.map(path), LIST].sort())
    expect(server.log.every(({ headers }) => headers['if-modified-since'] === undefined)).toBe(true)
    expect(report.requests).toBe(8)
    expect(report.series).toMatchObject([
      {
        symbol: 'BTCUSDT',
        interval: '15m',
        candles: 42,
        firstOpenTime: Date.parse(FULL_WEEKS[0]),
        lastOpenTime: Date.parse(OPEN_WEEK) + DAY,
        windows: { total: 7, fetched: 7, cached: 0, revalidated: 0, retained: 0, failed: 0 },
        restated: 0,
      },
    ])
  })

  it('stores every file byte for byte, empty ones too, windows with their Last-Modified, and no future window', async () => {
    const { tree, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const own = ['.klines/15m/BTCUSDT.json', '.klines/start-dates/15m.json']
    expect(filesBelow(mirror)).toEqual([...own, ...STARTED.map(path), 'mirror.json'])
    expect(readJson(mirror, '.klines/start-dates/15m.json')).toEqual(readJson(tree, LIST))
    for (const file of STARTED.map(path)) {
      expect(readFileSync(join(mirror, file)).equals(readFileSync(join(tree, file)))).toBe(true)
      expect(statSync(join(mirror, file)).mtimeMs).toBe(RENDERED)
    }
    expect(readFileSync(join(mirror, path(EMPTY_WEEK)), 'utf8')).toBe('[]')
  })

  it('with a range requests only the windows that overlap it', async () => {
    const { server, request } = await downloadSetup()
    await downloadKlines({ ...request, from: '2025-01-14', to: '2025-01-27' })
    expect(server.paths('windows').sort()).toEqual([path('2025-01-13'), path('2025-01-20')])
  })
})

describe('a second run', () => {
  it('requests no final window, the others with If-Modified-Since; after 304 the file stays', async () => {
    const { server, mirror, request } = await downloadSetup()
    const planned = async (more = {}) => {
      const { series, requests } = await dryRun({ ...request, ...more })
      return { ...series[0].windows, requests }
    }
    expect(await planned()).toEqual({ total: 7, cached: 0, open: 0, missing: 7, requests: 7 })
    expect(existsSync(mirror)).toBe(false)
    await downloadKlines(request)
    expect(await planned()).toEqual({ total: 7, cached: 5, open: 2, missing: 0, requests: 2 })
    expect(await planned({ refresh: true })).toEqual({ total: 7, cached: 0, open: 7, missing: 0, requests: 7 })
    server.reset()
    const report = await downloadKlines(request)
    expect(server.paths().sort()).toEqual([...OPEN, LIST])
    expect(server.log.find(entry => entry.path === path(OPEN_WEEK))).toMatchObject({
      status: 304,
      headers: { 'if-modified-since': new Date(RENDERED).toUTCString() },
    })
    expect(report.series[0]).toMatchObject({ candles: 42, windows: { cached: 5, revalidated: 2, fetched: 0 } })
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 2 }))
    expect(statSync(join(mirror, path(OPEN_WEEK))).mtimeMs).toBe(RENDERED)
  })

  it('reads final windows only where the range cuts them, and counts all; a copy, and a mirror of an earlier version, is read once', async () => {
    const { folder, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const counted = async (more: object) => {
      const opened = { call: 'openSync', code: 'EIO', path: '/15m/BTCUSDT/2025-', at: Infinity } as const
      const { result, calls } = await whileReadsFail(opened, () => downloadKlines({ ...request, ...more }))
      const [{ windows, candles, gaps, missing, cachedBytes }] = result.series
      return [calls, windows.cached, candles, gaps, missing, cachedBytes]
    }
    const sizes = FULL_WEEKS.map(date => statSync(join(mirror, path(date))).size)
    const bytes = sizes.reduce((sum, size) => sum + size)
    const weeks = { from: FULL_WEEKS[0], to: OPEN_WEEK }
    // A week has a candle a day and one at its end.
    const expected = [5, 40, 5 * 7, 5 * (6 * 95 + 94), bytes]
    expect(await counted(weeks)).toEqual([0, ...expected])
    expect(await counted({ from: '2025-01-08', to: '2025-02-05' })).toEqual([
      2,
      5,
      32,
      27,
      5 * 94 - 94 + 23 * 95,
      bytes,
    ])
    const copy = { ...weeks, mirror: join(folder, 'copy') }
    cpSync(mirror, copy.mirror, { recursive: true })
    // What was learned by reading need not be written.
    const index = join(copy.mirror, '.klines/15m/BTCUSDT.json')
    renameSync(index, `${index}.old`)
    symlinkSync(`${index}.old`, index)
    expect(await counted(copy)).toEqual([5, ...expected])
    renameSync(`${index}.old`, index)
    for (const reads of [5, 0]) expect(await counted(copy)).toEqual([reads, ...expected])
    // As earlier versions wrote it.
    writeFileSync(index, readFileSync(index, 'utf8').replace(/,"candles".*(?=})/g, ''))
    for (const reads of [5, 0]) expect(await counted(copy)).toEqual([reads, ...expected])
  })

  it('that a disk has damaged is downloaded again by an export, though its size and the time of its change are as stored', async () => {
    const { server, mirror, request, folder } = await downloadSetup()
    await downloadKlines(request)
    const file = path(FULL_WEEKS[1])
    const good = readFileSync(join(mirror, file))
    const { ctimeMs: stored } = statSync(join(mirror, file))
    putFile(mirror, file, Buffer.alloc(good.length))
    // No program can set the time of a change: the index gets that of the damaged file.
    const index = join(mirror, '.klines/15m/BTCUSDT.json')
    const { ctimeMs } = statSync(join(mirror, file))
    writeFileSync(index, readFileSync(index, 'utf8').replace(`"ctime":${stored}`, `"ctime":${ctimeMs}`))
    server.reset()
    const { series } = await exportKlines({ ...request, output: join(folder, 'x.csv') })
    expect(series).toMatchObject([{ candles: 42 }])
    expect(server.paths('windows')).toContain(file)
    expect(readFileSync(join(mirror, file)).equals(good)).toBe(true)
  })

  it('downloads a final window again that has other bytes of the same size and time', async () => {
    const { server, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const file = path(FULL_WEEKS[1])
    const good = readFileSync(join(mirror, file))
    for (const bad of [String(good).replace('3.50000000', '3.50000001'), Buffer.alloc(good.length)]) {
      putFile(mirror, file, bad)
      server.reset()
      await downloadKlines(request)
      expect(server.paths('windows')).toContain(file)
      expect(readFileSync(join(mirror, file)).equals(good)).toBe(true)
    }
  })

  it('downloads a window that has new candles', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 3 }), RENDERED + DAY)
    server.reset()
    server.date = NOW + DAY
    const report = await downloadKlines({ ...request, now: NOW + DAY })
    expect(report.series[0]).toMatchObject({
      candles: 43,
      restated: 0,
      windows: { fetched: 1, revalidated: 1, cached: 5 },
    })
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 3 }))
    expect(statSync(join(mirror, path(OPEN_WEEK))).mtimeMs).toBe(RENDERED + DAY)
    // What is cached is no part that the service never had.
    server.always(path(OPEN_WEEK), { status: 404 })
    const lost = { code: 'incomplete', data: { failures: [{ startDate: OPEN_WEEK, reason: 'status 404' }] } }
    expect(await catchError(downloadKlines(request))).toMatchObject(lost)
  })

  it.each([
    ["this machine's", NOW, Date.parse(FUTURE_WEEK)],
    ["the service's", Date.parse(FUTURE_WEEK), NOW],
  ])('requests the next window once it has started by %s clock', async (_, date, now) => {
    const { server, request } = await downloadSetup()
    await downloadKlines(request)
    server.reset()
    server.date = date
    await downloadKlines({ ...request, now })
    expect(server.paths('windows').sort()).toEqual([...OPEN, path(FUTURE_WEEK)])
  })

  it('is refused before any request if the mirror belongs to another base URL', async () => {
    const { server, request } = await downloadSetup()
    putFile(request.mirror, 'mirror.json', { baseUrl: 'http://other.example' })
    await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'mirror_mismatch' })
    expect(server.log).toEqual([])
  })
})

describe('a window that was fetched before its end', () => {
  const stale = '2025-01-13'
  const wednesday = Date.UTC(2025, 0, 15)

  /** All windows are fetched on Wednesday; a later run fetches only later windows. */
  async function staleSetup() {
    const setup = await downloadSetup()
    putFile(setup.tree, path(stale), weekRows(stale, { days: 2 }), wednesday)
    await downloadKlines({ ...setup.request, now: wednesday })
    putFile(setup.tree, path(stale), weekRows(stale), RENDERED)
    await downloadKlines({ ...setup.request, from: '2025-01-20' })
    setup.server.reset()
    return setup
  }

  it('is completed by the next full run, although later windows contain candles', async () => {
    const { server, mirror, request } = await staleSetup()
    const report = await downloadKlines(request)
    expect(server.paths('windows').sort()).toEqual([EMPTY_WEEK, stale, OPEN_WEEK].map(path))
    expect(report.series[0].candles).toBe(42)
    expect(readJson(mirror, path(stale))).toEqual(weekRows(stale))
  })

  it('whose last candles do not exist is requested until its Last-Modified is a day after its end', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    /** Whether a run so many days later requests it. */
    const isRequested = async (days: number) => {
      server.reset()
      server.date = NOW + days * DAY
      await downloadKlines({ ...request, now: server.date })
      return server.paths('windows').includes(path(stale))
    }
    putFile(tree, path(stale), weekRows(stale, { days: 2 }), Date.UTC(2025, 0, 20, 3))
    for (const days of [0, 1, 2]) expect(await isRequested(days)).toBe(true)
    putFile(tree, path(stale), weekRows(stale, { days: 2 }), Date.UTC(2025, 0, 21, 3))
    expect(await isRequested(3)).toBe(true)
    expect(await isRequested(4)).toBe(false)
    const damaged = JSON.stringify(weekRows(stale, { days: 2 })).replace('3.50000000', '3.50000001')
    putFile(mirror, path(stale), damaged, Date.UTC(2025, 0, 21, 3))
    const locked = lockKlines({ ...request, from: stale, to: '2025-01-15', output: join(mirror, 'x.lock.json') })
    expect(await catchError(locked)).toMatchObject({
      suggestions: [expect.stringContaining(`${stale} is not as the index of the mirror has it`)],
    })
    expect(await isRequested(5)).toBe(true)
    const again = server.log.find(entry => entry.path === path(stale))
    expect(again?.headers).not.toHaveProperty('if-modified-since')
    expect(readJson(mirror, path(stale))).toEqual(weekRows(stale, { days: 2 }))
  })

  it('is requested once more a day after later candles were first seen: it may be an old file beside new ones', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    putFile(tree, path(stale), weekRows(stale, { days: 2 }))
    await downloadKlines(request)
    putFile(tree, path(stale), weekRows(stale), RENDERED + 1000)
    server.date = NOW + DAY
    await downloadKlines({ ...request, now: NOW + DAY })
    expect(readJson(mirror, path(stale))).toEqual(weekRows(stale))
    // The empty week was rendered late, and a 304 has said since that it is still so.
    server.reset()
    await downloadKlines({ ...request, now: NOW + 2 * DAY })
    expect(server.paths('windows')).toEqual([path(OPEN_WEEK)])
  })

  it.each(['1970-01-01', '1980-01-01', '1985-10-26'])(
    'is completed by a service that gives all files the time %s, and answers 304 to any condition',
    async day => {
      const { tree, server, mirror, request } = await downloadSetup()
      const run = async (openRows: unknown, date: number) => {
        putFile(tree, path(OPEN_WEEK), openRows, Date.parse(day))
        server.date = date
        return (await downloadKlines({ ...request, now: date })).series[0].windows
      }
      for (const startDate of STARTED) putFile(tree, path(startDate), readJson(tree, path(startDate)), Date.parse(day))
      await run([], NOW - 2 * DAY)
      expect(await run(weekRows(OPEN_WEEK, { days: 2 }), NOW)).toMatchObject({ fetched: 1 })
      expect(await run(weekRows(OPEN_WEEK, { days: 3 }), NOW + DAY)).toMatchObject({ fetched: 1 })
      expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 3 }))
      server.reset()
      expect(await run(weekRows(OPEN_WEEK, { days: 3 }), NOW + 2 * DAY)).toMatchObject({ fetched: 0, revalidated: 1 })
      // By the Date of its answers, the empty week is final.
      expect(server.paths('windows')).toEqual([path(OPEN_WEEK)])
    },
  )
})

describe('a new version of a window', () => {
  it('that lacks candles is not stored: the cached file stays, with a warning', async () => {
    const { tree, server, mirror, warnings, request } = await downloadSetup()
    await downloadKlines(request)
    const [first, second] = weekRows(OPEN_WEEK)
    for (const [refresh, row] of [
      [false, first],
      [true, first],
      [false, second],
    ] as const) {
      putFile(tree, path(OPEN_WEEK), [row], RENDERED + DAY)
      warnings.length = 0
      const report = await downloadKlines({ ...request, refresh })
      expect(report.series[0]).toMatchObject({ candles: 42, restated: 0, changes: [], windows: { retained: 1 } })
      expect(warnings).toEqual([
        `BTCUSDT 15m ${OPEN_WEEK}: the new version lacks 1 cached candle, so the cached window stays. To take the new version, remove ${join(mirror, path(OPEN_WEEK))} and download again.`,
      ])
      expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 2 }))
      expect(statSync(join(mirror, path(OPEN_WEEK))).mtimeMs).toBe(RENDERED)
    }
    server.reset()
    await downloadKlines(request)
    expect(server.paths('windows').sort()).toEqual(OPEN)
  })

  it('that another run has stored since the request does not give way to an older answer', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const old = readFileSync(join(mirror, path(OPEN_WEEK)))
    server.script(path(OPEN_WEEK), async (_, response) => {
      putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 3 }), RENDERED + DAY)
      await downloadKlines(request)
      response.writeHead(200, { 'content-type': 'application/json' }).end(old)
    })
    await downloadKlines(request)
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 3 }))
  })

  it('that lacks candles and goes on behind them is stored; the withdrawn candle is a change', async () => {
    const { tree, mirror, warnings, request } = await downloadSetup()
    await downloadKlines(request)
    const rows = weekRows(OPEN_WEEK, { days: 4 })
    rows[1] = candle(rows[1][0], 1)
    putFile(tree, path(OPEN_WEEK), rows.slice(1), RENDERED + DAY)
    const [report] = (await downloadKlines(request)).series
    expect(report).toMatchObject({ windows: { fetched: 1, retained: 0 }, newCandles: 2, restated: 2 })
    expect(report.changes[0]).toEqual({
      openTime: rows[0][0],
      column: 'open_time',
      before: String(rows[0][0]),
      after: null,
    })
    expect(warnings).toEqual([])
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(rows.slice(1))
    const lines = readFileSync(join(mirror, 'changes.jsonl'), 'utf8').trim().split('\n')
    expect(JSON.parse(lines[0])).toMatchObject({ symbol: 'BTCUSDT', startDate: OPEN_WEEK, ...report.changes[0] })
  })
})

it.each<[string, string | Buffer]>([
  ['truncated', JSON.stringify(weekRows(FULL_WEEKS[1])).slice(0, 200)],
  ['empty', ''],
  ['of another window', JSON.stringify(weekRows(FULL_WEEKS[2]))],
  ['of zeros', Buffer.alloc(500)],
])(
  'a corrupt file in the mirror (%s) is fetched again unconditionally, with a warning; the others are not',
  async (_, content) => {
    const { server, mirror, warnings, request } = await downloadSetup()
    await downloadKlines(request)
    putFile(mirror, path(FULL_WEEKS[1]), content)
    server.reset()
    const report = await downloadKlines(request)
    expect(server.paths('windows').sort()).toEqual([EMPTY_WEEK, FULL_WEEKS[1], OPEN_WEEK].map(path))
    const again = server.log.find(entry => entry.path === path(FULL_WEEKS[1]))
    expect(again?.headers).not.toHaveProperty('if-modified-since')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(new RegExp(`^Corrupt in the mirror, downloaded again: BTCUSDT 15m ${FULL_WEEKS[1]}: `))
    expect(report.series[0].candles).toBe(42)
    expect(readJson(mirror, path(FULL_WEEKS[1]))).toEqual(weekRows(FULL_WEEKS[1]))
  },
)

describe('dates and symbols of the service', () => {
  it('`all` means the symbols on its list, also an eleventh one', async () => {
    const { tree, mirror, warnings, request } = await downloadSetup()
    putFile(tree, 'api/klines/symbols.json', ['PEPEUSDT', 'BTCUSDT', 'ETHUSDT'])
    const [from, to] = ['api/klines/15m/BTCUSDT', 'api/klines/15m/PEPEUSDT'].map(folder => join(tree, folder))
    cpSync(from, to, { recursive: true })
    const report = await downloadKlines({ ...request, symbols: 'all' as const })
    expect(report.series.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT', 'PEPEUSDT'])
    expect(report.series[2].candles).toBe(report.series[0].candles)
    expect(warnings).toEqual(['Not listed by the service, so not part of "all": BNBUSDT, SOLUSDT, XRPUSDT and 5 more.'])
    expect(readJson(mirror, '.klines/symbols.json')).toEqual(['PEPEUSDT', 'BTCUSDT', 'ETHUSDT'])
    const offline = await exportKlines({ ...request, symbols: 'all', offline: true, output: join(mirror, 'all.csv') })
    expect(offline.series.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT', 'PEPEUSDT'])
  })

  it('a name that is neither one of the ten nor on the list is unknown', async () => {
    const { tree, server, folder, request } = await downloadSetup()
    putFile(tree, 'api/klines/symbols.json', ['BTCUSDT', 'ETHUSDT'])
    const near = { ...request, symbols: ['BTCUSD'] }
    const error = await catchError(downloadKlines(near))
    expect(error).toMatchObject({
      code: 'unknown_symbol',
      suggestions: ['Did you mean BTCUSDT?', 'The exchange may have it: --base-url binance.'],
    })
    expect(error.message).toBe(
      `Unknown symbol "BTCUSD"; ${server.url} has no such symbol. Expected one of BTCUSDT, ETHUSDT.`,
    )
    expect(server.paths()).toEqual(['api/klines/symbols.json'])
    expect(readdirSync(folder)).toEqual([])
  })

  it('a range without candles fails with no_candles; its windows stay in the mirror', async () => {
    const { mirror, request } = await downloadSetup()
    await expect(downloadKlines({ ...request, to: '2025-01-06' })).rejects.toMatchObject({
      code: 'no_candles',
      message: 'No candle of BTCUSDT 15m opens from the beginning to 2025-01-06T00:00:00.000Z.',
    })
    expect(existsSync(join(mirror, path(EMPTY_WEEK)))).toBe(true)
    await expect(downloadKlines({ ...request, from: '2025-03-01' })).rejects.toMatchObject({ code: 'no_candles' })
  })

  it('a range without candles names those that the service has before it, and asks for few windows', async () => {
    const { tree, server, request } = await downloadSetup()
    for (const week of [OPEN_WEEK, ...FULL_WEEKS.slice(3)]) putFile(tree, path(week), [])
    const [last] = weekRows(FULL_WEEKS[2]).slice(-1)
    const newest = new Date(last[0]).toISOString().replace('T', ' ').slice(0, 16)
    const before = (await catchError(downloadKlines({ ...request, last: '2d' }))).suggestions as string[]
    expect(before[0]).toContain(`The newest candle of ${server.url} is of ${newest} UTC, `)
    const range = /--from (\S+) --to (\S+) has some/.exec(before[0])
    expect(server.paths().filter(name => name.includes('BTCUSDT')).length).toBeLessThan(7)
    const report = await downloadKlines({ ...request, from: range?.[1], to: range?.[2] })
    expect(report.series[0].lastOpenTime).toBe(last[0])
  })
})
