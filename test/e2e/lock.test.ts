import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { LockCheckSchema, LockSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import {
  FULL_WEEKS,
  makeTree,
  OPEN_WEEK,
  PRESENT,
  putFile,
  RENDERED,
  type Row,
  treeRows,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const LOCK = 'klines.lock.json'
const DAY = 86_400_000
const QUARTER = 900_000
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
const lockArgs = ['lock', 'BTCUSDT', '-i', '15m', '--mirror', 'm']
/** All rows of the synthetic series. The last one is of 2025-02-11 00:00, and its window was rendered 27 h later. */
const ROWS = [...treeRows('BTCUSDT').values()].flat()
const [LAST] = ROWS.slice(-1)
const expected = (rows: readonly Row[]) => fingerprintOf('BTCUSDT', '15m', rows as unknown as KlineRow[])

/** Of the two days of 2024 that the sample has; `sha256sum` computed the fingerprint. */
const SAMPLE_LOCK = `{
  "series": [
    {"candles":2,"fingerprint":"klines:1:d9e102be0432b0b75665799153ffdc9836ac2bfcebe31f3d737e9651b201416d","firstOpenTime":1735516800000,"interval":"1d","lastOpenTime":1735603200000,"range":{"from":1735516800000,"to":1735689600000},"symbol":"BTCUSDT","years":[{"candles":2,"sha256":"cd8ff93276976a0858cf00888e087771edd65e63fe8d902ecfb6cf68f1208d6f","year":2024}]}
  ],
  "source": "sample",
  "version": 1
}
`

/** A series of one candle in the far future, whose fingerprint is right; windows from 1970 on. */
const FUTURE = {
  fingerprint: 'klines:1:b94c2019e8b9021f63f45ff3b4e4dd45ad164a4a19d306e9487a4c66ef4ad6b1',
  candles: 1,
  firstOpenTime: 253370678400000,
  lastOpenTime: 253370678400000,
  range: { from: 0, to: 253370679300000 },
  years: [{ year: 9998, candles: 1, sha256: 'a'.repeat(64) }],
}

/** The first series of the lock of a sandbox. */
const locked = (sandbox: CliSandbox, name = LOCK) => JSON.parse(sandbox.text(name)).series[0]

describe('klines lock', () => {
  it('writes the same bytes for the same candles, and what `download --lock` checks on another machine', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    const run = await sandbox.call([...lockArgs, '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const report = parseObject(run.stdout, LockSchema)
    expect(report).toMatchObject({ path: LOCK, baseUrl: server.url, set: null, replaced: false, changes: [] })
    expect(locked(sandbox)).toMatchObject({
      candles: ROWS.length,
      fingerprint: expected(ROWS),
      range: { from: ROWS[0][0], to: LAST[0] + QUARTER },
    })
    expect(JSON.parse(sandbox.text(LOCK))).toMatchObject({ source: server.url, version: 1 })

    for (const range of [
      ['--from', '2024', '--to', '2026'],
      ['--last', '1y'],
    ]) {
      const again = await sandbox.call([...lockArgs, ...range, '-o', 'again', '--force'])
      expect(again).toMatchObject({ code: 0 })
      expect(sandbox.bytes('again').equals(sandbox.bytes(LOCK))).toBe(true)
    }

    const other = newSandbox()
    other.now = PRESENT
    other.write(LOCK, sandbox.text(LOCK))
    const first = await other.call(['download', '--lock', LOCK, '-o', 'a.csv', '--json'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(parseObject(first.stdout, RunSchema)).toMatchObject({
      lock: { path: LOCK, series: 1 },
      candles: ROWS.length,
      files: [{ path: 'a.csv', candles: ROWS.length }],
    })
    expect(other.text('a.csv').trimEnd().split('\n').slice(1)).toEqual(ROWS.map(row => row.join(',')))
    const second = await other.call(['download', '--lock', LOCK])
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(second.stdout.split('\n').slice(0, 2)).toEqual([
      `The one series is exactly as ${LOCK} has it: ${ROWS.length} candles.`,
      `Source: ${server.url}`,
    ])
    const byVariable = await other.call(['download', '--fingerprint'], { KLINES_LOCK: LOCK })
    expect(byVariable).toMatchObject({ code: 0, stderr: '' })
    expect(byVariable.stdout).toContain(expected(ROWS))
    const dry = await other.call(['download', '--lock', LOCK, '--refresh', '--dry-run', '-o', 'b.csv'])
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toContain('Files that would be written: b.csv')
    expect(other.exists('b.csv')).toBe(false)
    expect(await other.call(['verify', '--lock', LOCK])).toMatchObject({ code: 0, stderr: '' })
    expect(await other.call(['download', '--lock', LOCK, '-o', 'a.csv'])).toMatchObject({ code: 2 })
  })

  it('ends with the last final candle: one that ended a day or more before its window was rendered', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    const rows = weekRows(OPEN_WEEK, { days: 3 })
    const end = rows[1][0] + QUARTER
    const download = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q']
    for (const [rendered, count] of [
      [end + DAY, 2],
      [end + DAY - 1000, 1],
    ]) {
      putFile(tree, path(OPEN_WEEK), rows, rendered)
      expect(await sandbox.call([...download, '--refresh'])).toMatchObject({ code: 0 })
      expect(await sandbox.call([...lockArgs, 'ETHUSDT', '--force'])).toMatchObject({ code: 0 })
      const { candles, lastOpenTime, range } = locked(sandbox)
      // Each series has an end of its own.
      expect(JSON.parse(sandbox.text(LOCK)).series[1].lastOpenTime).toBe(LAST[0])
      expect(candles).toBe(ROWS.length - 2 + count)
      expect([lastOpenTime, range.to]).toEqual([rows[count - 1][0], rows[count - 1][0] + QUARTER])
    }
  })

  it('of the exchange, ends with the last candle that had ended a day before it was sent', async () => {
    const exchange = await ExchangeServer.start(madeMarket({ BTCUSDT: { from: '2026-04-01T00:00Z' } }))
    const sandbox = newSandbox()
    sandbox.now = EXCHANGE_NOW
    const source = `binance:${exchange.url}`
    const series = ['BTCUSDT', '-i', '1h,1d', '--mirror', 'm']
    expect(await sandbox.call(['download', ...series, '--base-url', source, '-q'])).toMatchObject({ code: 0 })
    expect(await sandbox.call(['lock', ...series])).toMatchObject({ code: 0, stderr: '' })
    const lock = JSON.parse(sandbox.text(LOCK))
    expect(lock.source).toBe(source)
    const ends = Object.fromEntries(
      lock.series.map(({ interval, range }: { interval: string; range: { to: number } }) => [interval, range.to]),
    )
    const lastFinal = (ms: number) => Math.floor((EXCHANGE_NOW - DAY) / ms) * ms
    expect(ends).toEqual({ '1d': lastFinal(DAY), '1h': lastFinal(3_600_000) })
    exchange.reset()
    expect(await sandbox.call(['download', '--lock', LOCK, '--mirror', 'm'])).toMatchObject({ code: 0, stderr: '' })
    expect(await sandbox.call(['verify', '--lock', LOCK, '--mirror', 'm'])).toMatchObject({ code: 0 })
    expect(exchange.violations).toEqual([])
  })

  it('has a filled window whole, however soon it was rendered', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    const [week] = FULL_WEEKS
    putFile(tree, path(week), weekRows(week), Date.parse(week) + 7 * DAY + 3_600_000)
    const download = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q']
    expect(await sandbox.call([...download, '--refresh'])).toMatchObject({ code: 0 })
    const run = await sandbox.call(lockArgs)
    expect(run.code).toBe(0)
    expect(locked(sandbox)).toMatchObject({ candles: ROWS.length, lastOpenTime: LAST[0] })
  })

  it('does not trust a window that is not as recorded; without a final candle there is no lock', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    await sandbox.shell('rm -r m/.klines')
    const run = await sandbox.call([...lockArgs, '--from', OPEN_WEEK, '--to', '2025-02-12'])
    expect(run).toMatchObject({ code: 4, stdout: '' })
    expect(run.stderr).toContain('No candle of BTCUSDT 15m in the range is final; nothing is written.')
    expect(run.stderr).toContain('klines download confirms it')
    expect(sandbox.exists(LOCK)).toBe(false)
  })

  it('of a folder without mirror.json has no source', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    await sandbox.shell('rm m/mirror.json')
    const ended = await sandbox.call([...lockArgs, '--to', FULL_WEEKS[1]])
    expect(ended).toMatchObject({ code: 0 })
    expect(JSON.parse(sandbox.text(LOCK))).toMatchObject({ source: null, series: [{ candles: 8 }] })
    const verify = ['verify', '--lock', LOCK]
    expect(await sandbox.call([...verify, '--mirror', 'm'])).toMatchObject({ code: 0 })
    expect(await sandbox.call(verify)).toMatchObject({ code: 2 })
    expect(await sandbox.call(['download', '--lock', LOCK])).toMatchObject({ code: 2 })
    expect(await sandbox.call(['download', '--lock', LOCK, '--base-url', server.url])).toMatchObject({ code: 0 })
  })

  it('replaces a lock with --force alone, and says what changed', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    const before = sandbox.text(LOCK)
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 2 })
    expect((await sandbox.call([...lockArgs, '--force'])).stdout).toContain('Nothing changed.')
    const all = ['lock', 'all', '-i', '15m', '--mirror', 'm', '--force', '--from', FULL_WEEKS[1]]
    const run = await sandbox.call(all)
    expect(run.stdout).toContain(
      `Changed in the lock:\n  BTCUSDT 15m: 42 -> 34 candles; 2025 changed\n  ETHUSDT 15m: added`,
    )
    sandbox.write(LOCK, '{"name": "something"}')
    const replaced = await sandbox.call([...lockArgs, '--force'])
    expect(replaced.stderr).toContain('What was replaced is no lock')
    expect(sandbox.text(LOCK)).toBe(before)
    expect(await sandbox.call([...lockArgs, '-o', 'papers/lock.json'])).toMatchObject({ code: 0 })
    expect(sandbox.text('papers/lock.json')).toBe(before)
  })

  it.each([
    [['download', 'BTCUSDT', '--lock', 'x'], 'BTCUSDT contradicts --lock'],
    [['download', '-i', '1h', '--lock', 'x'], '--interval contradicts --lock'],
    [['download', '--lock=x', '--last', '7d'], '--last contradicts --lock'],
    [['verify', '--lock', 'x', '--from', '2024'], '--from contradicts --lock'],
    [['download', '--lock', 'x', '--resample', '3h'], '--resample has no use with --lock'],
    [['download', '--lock', 'x', '--layout', 'hive', '-o', 'lake'], '--layout has no use with --lock'],
    [['download', '--lock', 'x', '--fail-on-gaps'], '--fail-on-gaps has no use with --lock'],
    [['download', '--lock', 'x'], 'x does not exist'],
    [['download'], 'Missing SYMBOL and -i INTERVAL.'],
  ])('refuses %j', async (args, message) => {
    const run = await newSandbox().call(args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(message)
  })
})

describe('other candles than those of a lock', () => {
  const restated = weekRows(FULL_WEEKS[0])
  restated[2] = restated[2].with(4, '1.00000000').with(8, 43) as Row
  restated[3] = restated[3].with(5, '2.00000000') as Row

  it('are exit code 6 with their years and every restated cell, and nothing is exported', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    expect(await sandbox.call([...lockArgs, 'ETHUSDT'])).toMatchObject({ code: 0 })
    putFile(tree, path(FULL_WEEKS[0]), restated, RENDERED + DAY)
    const check = ['download', '--lock', LOCK, '--mirror', 'm', '-o', '{symbol}.csv']
    const unaware = await sandbox.call(check)
    expect(unaware).toMatchObject({ code: 0 })
    const run = await sandbox.call([...check, '--refresh', '--force'])
    expect(run).toMatchObject({ code: 6, stdout: '' })
    expect(run.stderr.split('\n').slice(0, 10)).toEqual([
      `klines: 1 of 2 series is not as ${LOCK} has it:`,
      '  BTCUSDT 15m: 2025 has other values',
      'Changed by the service since they were downloaded:',
      '  BTCUSDT 15m 2025-01-08 00:00',
      `    close ${weekRows(FULL_WEEKS[0])[2][4]} -> 1.00000000`,
      '    count 42 -> 43',
      '  BTCUSDT 15m 2025-01-09 00:00',
      '    volume 3.50000000 -> 2.00000000',
      `Source: ${server.url}`,
      'Nothing was exported.',
    ])

    const offline = await sandbox.call(['verify', '--lock', LOCK, '--mirror', 'm', '--json'])
    expect(offline.code).toBe(6)
    const report = parseObject(offline.stdout, LockCheckSchema)
    expect(report.verdict).toBe('different')
    expect(report.series.map(({ symbol, years }) => [symbol, years.map(({ year }) => year)])).toEqual([
      ['BTCUSDT', [2025]],
      ['ETHUSDT', []],
    ])

    // A second machine, whose mirror has the new values alone.
    const other = newSandbox()
    other.now = PRESENT
    other.write(LOCK, sandbox.text(LOCK))
    const fresh = await other.call(['download', '--lock', LOCK, '--base-url', server.url, '-o', 'a.jsonl', '--json'])
    expect(fresh.code).toBe(6)
    expect(JSON.parse(fresh.stdout).error).toMatchObject({
      code: 'lock_differs',
      data: { lock: LOCK, series: [{ symbol: 'BTCUSDT', interval: '15m', years: [2025] }], restated: [] },
    })
    expect(other.exists('a.jsonl')).toBe(false)
  })

  it('missing candles and all of them count, too', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    for (const week of FULL_WEEKS) putFile(tree, path(week), week === FULL_WEEKS[0] ? [] : weekRows(week).slice(0, 3))
    putFile(tree, path(OPEN_WEEK), [])
    const other = newSandbox()
    other.now = PRESENT
    other.write(LOCK, sandbox.text(LOCK))
    const some = await other.call(['download', '--lock', LOCK, '--base-url', server.url])
    expect(some).toMatchObject({ code: 6, stdout: '' })
    expect(some.stderr).toContain('  BTCUSDT 15m: 2025 has 12 candles, and 42 locked')
    for (const week of FULL_WEEKS) putFile(tree, path(week), [])
    const none = await other.call(['download', '--lock', LOCK, '--base-url', server.url, '--mirror', 'new'])
    expect(none).toMatchObject({ code: 6, stdout: '' })
    expect(none.stderr).toContain('  BTCUSDT 15m: 2025 has no candle, and 42 locked')
  })

  it('windows that cannot be downloaded or are missing offline are exit code 3', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    await sandbox.shell(`rm m/${path(FULL_WEEKS[1])}`)
    server.always(path(FULL_WEEKS[1]), { status: 404 })
    const failed = await sandbox.call(['download', '--lock', LOCK, '--mirror', 'm', '-o', 'a.csv'])
    expect(failed).toMatchObject({ code: 3, stdout: '' })
    expect(sandbox.exists('a.csv')).toBe(false)
    const offline = await sandbox.call(['verify', '--lock', LOCK, '--mirror', 'm'])
    expect(offline).toMatchObject({ code: 3 })
    expect(offline.stdout).toContain('1 window missing or corrupt:\n  BTCUSDT 15m 2025-01-13: not in the mirror')
  })

  it('another source than that of the lock is refused', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    const elsewhere = await TreeServer.start(makeTree(tempFolder()))
    const other = ['--lock', LOCK, '--mirror', 'm', '--base-url', elsewhere.url]
    for (const command of ['download', 'verify'])
      expect(await sandbox.call([command, ...other])).toMatchObject({ code: 2, stdout: '' })
    expect(elsewhere.log).toEqual([])
  })
})

it.each<[what: string, change: (lock: { source: string; series: Record<string, unknown>[] }) => void, message: RegExp]>(
  [
    [
      'a future candle',
      lock => Object.assign(lock.series[0], FUTURE),
      /has a candle of BTCUSDT 15m of 9998-12-31 .*future/,
    ],
  ],
)('a lock with %s is refused before any request', async (_, change, message) => {
  const { sandbox, server } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
  expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
  const lock = JSON.parse(sandbox.text(LOCK))
  change(lock)
  sandbox.write(LOCK, JSON.stringify(lock))
  server.reset()
  const run = await sandbox.call(['download', '--lock', LOCK, '--mirror', 'm'])
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expect(run.stderr).toMatch(message)
  expect(server.log).toEqual([])
})

it('the sample is locked and checked by its name', async () => {
  const sandbox = newSandbox()
  expect(await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '-q'])).toMatchObject({
    code: 0,
  })
  expect(await sandbox.call(['lock', 'BTCUSDT', '-i', '1d', '--base-url', 'sample'])).toMatchObject({ code: 0 })
  expect(JSON.parse(sandbox.text(LOCK))).toMatchObject({ source: 'sample', series: [{ candles: 91 }] })
  expect(await sandbox.call(['verify', '--lock', LOCK])).toMatchObject({ code: 0 })
  const run = await sandbox.call(['download', '--lock', LOCK, '-f', 'csv', '-o', '-'])
  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(run.stdout.trimEnd().split('\n')).toHaveLength(92)
  // The same bytes on every system and version of Node.
  const two = ['lock', 'BTCUSDT', '-i', '1d', '--to', '2025', '--base-url', 'sample', '-o', '-', '-q']
  expect(await sandbox.call(two)).toMatchObject({ code: 0, stdout: SAMPLE_LOCK, stderr: '' })
})
