import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ShowSchema } from '../../src/cli/reports/schema.js'
import type { KlineRow } from '../../src/klines/columns.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { makeOffGridTree } from '../support/off-grid-tree.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { ALL_INTERVALS, type FileRow, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { snapshot } from '../support/snapshot.js'
import { putFile, type Row } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const HOUR = 3_600_000
const TIME = '2025-02-10T21:00'
const OPEN = Date.parse(`${TIME}Z`)
const FEBRUARY = 'api/klines/1h/BTCUSDT/2025-02-01.json'

/** A sandbox with the sample as the mirror `m`: a bare folder, or one of `baseUrl`. */
function sampleMirror(baseUrl?: string): CliSandbox {
  const sandbox = newSandbox()
  // The sample ends with March 2025.
  sandbox.now = Date.UTC(2025, 3, 2)
  const root = sandbox.path('m')
  cpSync(SAMPLE_TREE, root, { recursive: true, preserveTimestamps: true })
  rmSync(join(root, 'mirror.json'))
  if (baseUrl !== undefined) putFile(root, 'mirror.json', { layout: 1, baseUrl, complete: false })
  return sandbox
}
const show = (sandbox: CliSandbox, ...args: string[]) => sandbox.call(['show', ...args, '--mirror', 'm'])
async function shown(sandbox: CliSandbox, ...args: string[]) {
  const run = await show(sandbox, ...args, '--json')
  return { ...parseObject(run.stdout, ShowSchema), code: run.code }
}
/** Changes rows of a window in a folder, whose file keeps its time. */
function change(root: string, path: string, edit: (rows: Row[]) => Row[]): void {
  const rows = JSON.parse(readFileSync(join(root, path), 'utf8'))
  putFile(root, path, edit(rows))
}
const setCell = (openTime: number, cell: number, value: string) => (rows: Row[]) =>
  rows.map(row => (row[0] === openTime ? (row.with(cell, value) as Row) : row))
const dropHour = (rows: Row[]) => rows.filter(([openTime]) => openTime < OPEN || openTime >= OPEN + HOUR)
describe('klines show', () => {
  const sandbox = sampleMirror()
  const rows = sampleRows('BTCUSDT', '1h')
  const row = rows.find(([openTime]) => openTime === OPEN) as FileRow
  const quarters = sampleRows('BTCUSDT', '15m').filter(([time]) => Number(time) >= OPEN && Number(time) < OPEN + HOUR)

  it('shows the candle, its exact sums and its neighbours; every line fits 80 columns', async () => {
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const lines = run.stdout.split('\n')
    expect(lines.filter(line => line.length > 80)).toEqual([])
    expect(lines[0]).toBe('BTCUSDT 1h, 2025-02-10 21:00 to 2025-02-10 22:00 UTC')
    expect(lines[2]).toMatch(/^ {24}candle +sum of 4 x 15m$/)
    for (const [column, index] of [
      ['open', 1],
      ['volume', 5],
      ['count', 8],
      ['ignore', 11],
    ] as const)
      expect(run.stdout).toMatch(new RegExp(`^${column} +${row[index]} +${row[index]}$`, 'm'))
    expect(run.stdout).toMatch(/^close_time +2025-02-10 21:59:59\.999 +2025-02-10 21:59:59\.999$/m)
    const previous = rows.find(([openTime]) => openTime === OPEN - HOUR) as FileRow
    expect(run.stdout).toContain(`\nBefore   2025-02-10 20:00, close ${previous[4]}\n`)
    expect(run.stdout).toContain('\nSums     equal in all columns: 4 x 15m, 2 x 30m\n')
    expect(run.stdout).toContain('\nWindow   2025-02-01 to 2025-03-01, final: it is not downloaded again\n')
    expect(lines.at(-2)).toBe('Mirror: m')
  })

  it('has all of it in --json: the cells of the file, and sums as integers add them up', async () => {
    const { code, candle, finer, ...rest } = await shown(sandbox, 'BTCUSDT', '1h', TIME)
    expect(code).toBe(0)
    expect(Object.values(candle ?? {})).toEqual(row)
    expect(rest).toMatchObject({
      state: 'candle',
      openTime: OPEN,
      endTime: OPEN + HOUR,
      before: OPEN - HOUR,
      after: OPEN + HOUR,
      gaps: [],
      baseUrl: null,
    })
    expect(rest.window).toMatchObject({ startDate: '2025-02-01', final: true, candles: 669, fetchedTime: null })
    expect(finer.map(({ interval, candles, equal }) => [interval, candles, equal])).toEqual([
      ['15m', 4, true],
      ['30m', 2, true],
    ])
    const sums = aggregateOracle(OPEN, quarters as unknown as KlineRow[]).map(toAmount)
    for (const { sum } of finer) expect(Object.values(sum ?? {}).map(toAmount)).toEqual(sums)
  })

  it.each([
    ['btcusdt', '2025-02-10T21:59:59.999'],
    ['BTC/USDT', '2025-02-10 22:30+01:00'],
    ['btc-usdt', String(OPEN / 1000)],
    ['BTC_USDT', String(OPEN + 1)],
    [' BTCUSDT', '2025-02-10T21:00Z'],
  ])('finds it by %j at %j', async (symbol, time) => {
    expect(await shown(sandbox, symbol, '1h', time)).toMatchObject({ code: 0, symbol: 'BTCUSDT', openTime: OPEN })
  })

  it.each([
    ['-51d', '2025-02-10'],
    ['2025-02', '2025-02-01'],
    ['2025-03', '2025-03-01'],
  ])('takes %s as --from does', async (time, day) => {
    expect(await shown(sandbox, 'BTCUSDT', '1d', time)).toMatchObject({ code: 0, openTime: Date.parse(day) })
  })

  it.each(ALL_INTERVALS)('finds what a search through all files finds: %s', async interval => {
    const all = sampleRows('ETHUSDT', interval)
    for (const share of [0.01, 0.43, 0.99]) {
      const at = all[Math.floor(share * all.length)]
      const time = Number(at[0]) + Math.floor((Number(at[6]) - Number(at[0])) * 0.7)
      const { code, candle, finer } = await shown(sandbox, 'ETHUSDT', interval, String(time))
      expect([code, Object.values(candle ?? {})]).toEqual([0, at])
      expect(finer.filter(({ equal }) => equal === false)).toEqual([])
      if (interval !== '15m') expect(finer.some(({ equal }) => equal === true)).toBe(true)
    }
  })

  it.each<[string[], number, RegExp]>([
    [['BTCUSDT', '1h', '2025-04-02'], 4, /^NO CANDLE yet: that time is not over/m],
    [['BTCUSDT', '1h', '2030'], 4, /^NO CANDLE yet: that time is not over/m],
    [['BTCUSDT', '1h', '2016'], 4, /^NO CANDLE: the windows of this interval begin /m],
    [['BTCUSDT', '15m', '2010'], 4, /^NO CANDLE: the windows of this interval begin 2024-12-30\.$/m],
  ])('%j has no candle, which is exit code %i', async (args, code, text) => {
    const run = await show(sandbox, ...args)
    expect(run.stdout).toMatch(text)
    expect(run).toMatchObject({ code, stderr: '' })
    expect(run.stdout.split('\n').filter(line => line.length > 80)).toEqual([])
  })

  it.each<[string[], number, string]>([
    [['BTCUSDT', '3h', TIME], 2, '--resample 3h --from 2025-02-10T21:00 --to 2025-02-11T00:00\n'],
    [
      ['BTCUSDT', '90m', TIME],
      2,
      'klines export BTCUSDT -i 15m --resample 90m --from 2025-02-10T21:00 --to 2025-02-10T22:30\n',
    ],
    [['BTCUSDT', '1H', TIME], 2, 'Did you mean 1h?'],
    [['BTCUSDT', '1m', TIME], 2, 'Did you mean 1M (a month)?'],
    [['BTCUSDTT', '1h', TIME], 2, 'Did you mean BTCUSDT?'],
    [['BTC*', '1h', TIME], 2, 'Unknown symbol "BTC*"'],
    [['BTCUSDT', '1h', 'noon'], 2, '"noon" is not a point in time.'],
    [['BTCUSDT', '1h'], 2, 'Missing TIME.'],
    [['BTCUSDT', '1h', '2025-02-10', '21:00'], 2, 'Join date and time by a T: 2024-01-31T12:00.'],
    [
      ['SOLUSDT', '1h', TIME],
      3,
      '  Download it: klines download SOLUSDT -i 1h --from 2025-02-01 --to 2025-03-01 --mirror m\n',
    ],
  ])('%j says what to do, exit code %i', async (args, code, text) => {
    const run = await show(sandbox, ...args)
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toContain(text)
  })

  it('says that there is no mirror, in --json too', async () => {
    const run = await newSandbox().call(['show', 'BTCUSDT', '1h', TIME, '--json'])
    expect(run.code).toBe(3)
    expect(JSON.parse(run.stdout).error.code).toBe('window_missing')
  })
})

describe('klines show names what is wrong', () => {
  it('a cell of which the finer candles have another sum', async () => {
    const sandbox = sampleMirror()
    change(sandbox.path('m'), FEBRUARY, setCell(OPEN, 5, '1.00000000'))
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME)
    expect(run.code).toBe(6)
    expect(run.stdout.split('\n').slice(0, 2)).toEqual([
      'FAILED: not what its 15m, 30m candles add up to',
      '  klines download BTCUSDT -i 1h --from 2025-02-01 --to 2025-03-01 --refresh --mirror m',
    ])
    expect(run.stdout).toMatch(/^volume +1\.00000000 +[\d.]+ +!=$/m)
    expect(run.stdout).toMatch(/^Sums {5}different: 4 x 15m\n {9}volume 1\.00000000, sum /m)
    expect(run.stdout.split('\n').filter(line => line.length > 80 && !line.startsWith('  klines'))).toEqual([])
  })

  it('a gap that finer candles fill, and one that other symbols share: an outage', async () => {
    const sandbox = sampleMirror()
    change(sandbox.path('m'), FEBRUARY, dropHour)
    const filled = await shown(sandbox, 'BTCUSDT', '1h', '2025-02-10T21:30')
    expect(filled).toMatchObject({ code: 6, state: 'gap', candle: null, before: OPEN - HOUR, after: OPEN + HOUR })
    expect(filled.gaps).toEqual([{ from: OPEN, to: OPEN + HOUR, missing: 1, outage: false, lacking: [] }])
    for (const [symbol, interval, date] of [
      ['BTCUSDT', '15m', '2025-02-10'],
      ['BTCUSDT', '30m', '2025-02-10'],
      ['ETHUSDT', '1h', '2025-02-01'],
    ])
      change(sandbox.path('m'), `api/klines/${interval}/${symbol}/${date}.json`, dropHour)
    const run = await show(sandbox, 'BTCUSDT', '1h', '2025-02-10T21:30')
    expect(run.code).toBe(4)
    expect(run.stdout).toContain('a gap of 1 candle,')
    expect(run.stdout).toContain('\nSums     no candles either: 15m, 30m\n')
    expect(run.stdout).toContain('\nOutage   of the exchange: ETHUSDT lacks candles then, too\n')
    const beside = await shown(sandbox, 'BTCUSDT', '1h', '2025-02-10T20:30')
    expect(beside).toMatchObject({
      code: 0,
      state: 'candle',
      gaps: [{ missing: 1, outage: true, lacking: ['ETHUSDT'] }],
    })
  })

  it.each<[string, string, string]>([
    ['cut', '[[1', 'is corrupt in the mirror m: '],
    ['empty', '', 'is corrupt in the mirror m: '],
  ])('a window that is %s', async (_, content, text) => {
    const sandbox = sampleMirror()
    writeFileSync(sandbox.path(`m/${FEBRUARY}`), content)
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain(text)
    expect(run.stderr).toContain('klines download BTCUSDT -i 1h --from 2025-02-01 --to 2025-03-01')
  })

  it('a window that is not cached, one that may have got the candle since, and finer ones that are not there', async () => {
    const sandbox = sampleMirror('http://127.0.0.1:9')
    rmSync(sandbox.path(`m/${FEBRUARY}`))
    const missing = await show(sandbox, 'BTCUSDT', '1h', TIME)
    expect(missing.code).toBe(3)
    expect(missing.stderr).toContain(
      '  Download it: klines download BTCUSDT -i 1h --from 2025-02-01 --to 2025-03-01 --base-url http://127.0.0.1:9 --mirror m\n',
    )
    const [MARCH, JANUARY] = ['2025-03-01', '2025-01-01'].map(date => `api/klines/1h/BTCUSDT/${date}.json`)
    change(sandbox.path('m'), MARCH, rows => rows.slice(0, 100))
    const unsettled = await show(sandbox, 'BTCUSDT', '1h', '2025-03-30')
    expect(unsettled.code).toBe(3)
    expect(unsettled.stdout).toMatch(
      /^NO CANDLE in the cached window, which may have got it since\. The newest cached/m,
    )
    // A window that was downloaded half full, before a later one.
    cpSync(join(SAMPLE_TREE, FEBRUARY), sandbox.path(`m/${FEBRUARY}`))
    change(sandbox.path('m'), JANUARY, rows => rows.slice(0, 100))
    const between = await shown(sandbox, 'BTCUSDT', '1h', '2025-01-20')
    expect(between).toMatchObject({ code: 3, state: 'unsettled', after: Date.parse('2025-02-01') })
    expect(await shown(sandbox, 'BTCUSDT', '1h', '2025-01-02')).toMatchObject({ code: 0 })
    rmSync(sandbox.path(`m/${FEBRUARY}`))
    rmSync(sandbox.path('m/api/klines/15m/BTCUSDT/2025-02-10.json'))
    const { finer } = await shown(sandbox, 'BTCUSDT', '2h', TIME)
    expect(finer.map(({ interval, reason }) => [interval, reason])).toEqual([
      ['15m', 'window 2025-02-10 is not cached'],
      ['30m', null],
      ['1h', 'window 2025-02-01 is not cached'],
    ])
  })

  it('text that could change a terminal is escaped', async () => {
    const sandbox = sampleMirror()
    change(sandbox.path('m'), FEBRUARY, setCell(OPEN, 11, 'x\u001B[31m\ny'))
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME)
    expect(run.stdout).toMatch(/^ignore +x\?\[31m\?y +0 +!=$/m)
  })

  it('candles off the grid, where the exchange itself has them', async () => {
    const sandbox = newSandbox()
    makeOffGridTree(sandbox.path('m'))
    const found = await shown(sandbox, 'BTCUSDT', '1h', '2018-02-09T10:00')
    expect(found).toMatchObject({
      code: 0,
      state: 'candle',
      openTime: Date.parse('2018-02-09T09:28:14.789Z'),
      finer: [],
    })
    const gap = await shown(sandbox, 'BTCUSDT', '1h', '2018-02-08T12:00')
    expect(gap).toMatchObject({ code: 4, state: 'gap', before: Date.parse('2018-02-08T00:00Z') })
    expect(gap.gaps).toMatchObject([{ missing: 32 }])
  })
})

describe('klines show --check', () => {
  async function served() {
    const tree = tempFolder()
    cpSync(SAMPLE_TREE, tree, { recursive: true, preserveTimestamps: true })
    const server = await TreeServer.start(tree)
    server.date = Date.UTC(2025, 3, 2)
    return { tree, server, sandbox: sampleMirror(server.url) }
  }

  it('downloads the window again and says that it is the same', async () => {
    const { server, sandbox } = await served()
    const before = snapshot(sandbox.path('m'))
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME, '--check')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(`\nCheck    now, at ${server.url}:\n         this candle is the same\n`)
    expect(server.paths('windows')).toEqual([FEBRUARY])
    expect(snapshot(sandbox.path('m'))).toEqual(before)
  })

  it('shows what differs, stores nothing, and ends with 6', async () => {
    const { tree, sandbox } = await served()
    const old = sampleRows('BTCUSDT', '1h').find(([openTime]) => openTime === OPEN) as FileRow
    change(tree, FEBRUARY, setCell(OPEN, 4, '68200.00000000'))
    change(tree, FEBRUARY, setCell(OPEN + HOUR, 5, '9.00000000'))
    change(tree, FEBRUARY, rows => rows.slice(0, -1))
    const before = snapshot(sandbox.path('m'))
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME, '--check')
    expect(run.code).toBe(6)
    expect(run.stdout.startsWith('FAILED: the service has another window\n')).toBe(true)
    expect(run.stdout).toContain(`\n         close ${old[4]} -> 68200.00000000\n         2025-02-10 22:00 volume `)
    expect(run.stdout).toContain('\n         1 other cached candle of the window not there any more\n')
    expect(snapshot(sandbox.path('m'))).toEqual(before)
    const { check } = await shown(sandbox, 'BTCUSDT', '1h', TIME, '--check')
    expect(check).toMatchObject({ equal: false, added: [], lost: [Date.parse('2025-02-28T23:00Z')] })
    expect(check?.changed).toHaveLength(2)
  })

  it('names a candle that the service has by now, and does not mind new ones at the end', async () => {
    const { sandbox } = await served()
    const MARCH = 'api/klines/1h/BTCUSDT/2025-03-01.json'
    change(sandbox.path('m'), MARCH, rows => rows.slice(0, 100))
    const old = await shown(sandbox, 'BTCUSDT', '1h', '2025-03-02', '--check')
    expect(old).toMatchObject({ code: 0, check: { equal: true, changed: [], lost: [] } })
    expect(old.check?.added.length).toBeGreaterThan(600)
    const later = await show(sandbox, 'BTCUSDT', '1h', '2025-03-30', '--check')
    expect(later.code).toBe(6)
    expect(later.stdout).toContain('\n         the service has this candle by now\n')
  })

  it('asks the exchange where the mirror is one of it', async () => {
    const market = madeMarket({ BTCEUR: { from: '2026-04-01T00:00Z' } })
    const exchange = await ExchangeServer.start(market)
    const sandbox = newSandbox()
    sandbox.now = EXCHANGE_NOW
    const baseUrl = `binance:${exchange.url}`
    const args = ['BTCEUR', '-i', '1h,1d', '--base-url', baseUrl, '--mirror', 'm', '-q']
    expect(await sandbox.call(['download', ...args])).toMatchObject({ code: 0 })
    const before = snapshot(sandbox.path('m'))
    exchange.reset()
    const found = await shown(sandbox, 'BTCEUR', '1d', '2026-04-20T12:00', '--check')
    expect(found).toMatchObject({ code: 0, baseUrl, check: { baseUrl, equal: true, changed: [], lost: [] } })
    expect(found.finer).toMatchObject([{ interval: '1h', candles: 24, equal: true }])
    expect(found.window?.fetchedTime).toBeGreaterThan(Date.UTC(2026, 3, 20))
    expect(exchange.log.map(({ kind }) => kind)).toContain('klines')
    expect(snapshot(sandbox.path('m'))).toEqual(before)
  })

  it('is an error where the service or its address is not there', async () => {
    const bare = await show(sampleMirror(), 'BTCUSDT', '1h', TIME, '--check')
    expect(bare).toMatchObject({ code: 2, stdout: '' })
    expect(bare.stderr).toContain('Name the service with --base-url URL.')
    const { server, sandbox } = await served()
    server.always(FEBRUARY, { status: 404 })
    const run = await show(sandbox, 'BTCUSDT', '1h', TIME, '--check')
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('1 of 1 windows could not be downloaded:\n1 x status 404')
  })
})
