import { mkdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { LockSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, type Env, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, startTreeServer, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import {
  FULL_WEEKS,
  OPEN_WEEK,
  PRESENT,
  putFile,
  RENDERED,
  type Row,
  treeRows,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

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

/** Command lines with a lock and a flag that has no use beside it, and what each is told. */
const refused = (command: string, flags: string): [string[], string][] =>
  flags
    .split(' ')
    .map(flag => [[command, '--lock', 'x', `--${flag}`], `klines: --${flag.split('=')[0]} contradicts --lock `])

/** The first series of the lock of a sandbox. */
const locked = (sandbox: CliSandbox, name = LOCK) => JSON.parse(sandbox.text(name)).series[0]

describe('klines lock', () => {
  it('writes the same bytes for the same candles, and what `download --lock` checks on another machine', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    const run = await sandbox.call([...lockArgs, '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const report = parseObject(run.stdout, LockSchema)
    expect(report).toMatchObject({ path: LOCK, baseUrl: server.url, set: null })
    expect(locked(sandbox)).toMatchObject({
      candles: ROWS.length,
      fingerprint: expected(ROWS),
      range: { from: ROWS[0][0], to: LAST[0] + QUARTER },
    })
    expect(JSON.parse(sandbox.text(LOCK))).toMatchObject({ source: server.url, version: 1 })

    for (const range of ['--from 2024 --to 2026', '--last 1y']) {
      const again = await sandbox.call([...lockArgs, ...range.split(' '), '-o', 'again', '--force'])
      expect(again).toMatchObject({ code: 0 })
      expect(sandbox.bytes('again').equals(sandbox.bytes(LOCK))).toBe(true)
    }

    const other = newSandbox()
    other.now = PRESENT
    other.write(LOCK, sandbox.text(LOCK))
    // What a lock says is no matter of defaults.
    const defaults = { KLINES_TAIL: '3', KLINES_RESAMPLE: '1d', KLINES_LAST: '2d', KLINES_LAYOUT: 'hive' }
    mkdirSync(other.path('taken.csv'))
    const asked = server.paths().length
    expect(await other.call(['download', '--lock', LOCK, '-o', 'taken.csv'])).toMatchObject({ code: 2 })
    expect(server.paths()).toHaveLength(asked)
    const first = await other.call(['download', '--lock', LOCK, '-o', 'a.csv', '--json'], defaults)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(parseObject(first.stdout, RunSchema)).toMatchObject({
      lock: { path: LOCK, series: 1 },
      candles: ROWS.length,
      files: [{ path: 'a.csv', candles: ROWS.length }],
    })
    expect(other.text('a.csv').trimEnd().split('\n').slice(1)).toEqual(ROWS.map(row => row.join(',')))
    const second = await other.call(['download', '--fingerprint'], { KLINES_LOCK: LOCK })
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(second.stdout.split('\n').slice(0, 2)).toEqual([
      `The one series is exactly as ${LOCK} has it: ${ROWS.length} candles.`,
      `Source: ${server.url}`,
    ])
    expect(second.stdout).toContain(`\n${expected(ROWS)}  BTCUSDT 15m`)
    expect(await other.call(['verify', '--lock', LOCK])).toMatchObject({ code: 0, stderr: '' })
    expect(await other.call(['download', '--lock', LOCK, '-o', 'a.csv'])).toMatchObject({ code: 0 })
  })

  it('of the exchange, ends with the last candle that had ended a day before it was sent', async () => {
    const exchange = await ExchangeServer.start(
      madeMarket({ BTCUSDT: { from: '2026-04-20' } }, { until: '2026-05-05' }),
    )
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

  it('does not trust a window that is not as recorded; without a final candle there is no lock', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    await sandbox.shell('rm -r m/.klines')
    const run = await sandbox.call([...lockArgs, '--from', OPEN_WEEK, '--to', '2025-02-12'])
    expect(run).toMatchObject({ code: 4, stdout: '' })
    expect(run.stderr).toContain('No candle of BTCUSDT 15m in the range is final; nothing is written.')
    expect(run.stderr).toContain('klines download confirms it')
    expect(sandbox.exists(LOCK)).toBe(false)
  })

  it.each([
    [['download', 'BTCUSDT', '--lock', 'x'], 'BTCUSDT contradicts --lock'],
    [['verify', 'BTCUSDT', '--lock', 'x'], 'BTCUSDT contradicts --lock'],
    ...refused('verify', 'interval=1d from=2025 format=csv fail-on-gaps threads=2'),
    ...refused('download', 'interval=1d from=2025 to=2025 last=3d resample=3h partial limit=3 tail=3 layout=hive'),
    ...refused('download', 'prune fail-on-gaps'),
    [['download', '--lock', 'x'], 'x does not exist'],
  ])('refuses %j', async (args, message) => {
    const run = await newSandbox().call(args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(message)
  })
})

describe('another source than that of a lock', () => {
  it.each(['a flag', 'a variable', 'the file of defaults'])('is refused without a request: by %s', async way => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    const other = await startTreeServer(sandbox)
    const args = way === 'a flag' ? ['--base-url', other.url] : []
    const env: Env = way === 'a variable' ? { KLINES_BASE_URL: other.url } : {}
    if (way === 'the file of defaults') await sandbox.call(['config', 'set', 'base-url', other.url])
    for (const command of ['download', 'verify']) {
      const run = await sandbox.call([command, '--lock', LOCK, '--mirror', 'm', ...args], env)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(`${LOCK} has candles of ${server.url}, and this run of ${other.url}.`)
      // The lock's own source may be named, in any spelling.
      const own = await sandbox.call([command, '--lock', LOCK, '--mirror', 'm', '--base-url', `${server.url}/`], env)
      expect(own).toMatchObject({ code: 0 })
    }
    expect(other.log).toEqual([])
  })
})

describe('other candles than those of a lock', () => {
  const restated = weekRows(FULL_WEEKS[0])
  // Before the range of the lock.
  restated[0] = restated[0].with(8, 43) as Row
  restated[2] = restated[2].with(4, '1.00000000').with(8, 43) as Row
  restated[3] = restated[3].with(5, '2.00000000') as Row

  it('are exit code 6 with their years and every restated cell, and nothing is exported', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    expect(await sandbox.call([...lockArgs, 'ETHUSDT', '--from', '2025-01-07'])).toMatchObject({ code: 0 })
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

  it('have other ends than those of the lock', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    expect(await sandbox.call(lockArgs)).toMatchObject({ code: 0 })
    const { series, ...lock } = JSON.parse(sandbox.text(LOCK))
    const range = { from: ROWS[0][0] - 1, to: LAST[0] + QUARTER }
    sandbox.write(LOCK, JSON.stringify({ ...lock, series: [{ ...series[0], lastOpenTime: LAST[0] + 1, range }] }))
    const ends =
      'BTCUSDT 15m: last candle 2025-02-11 00:00 here, 2025-02-11 00:00:00.001 in the lock; range from 2025-01-06 00:00 here, 2025-01-05 23:59:59.999 in the lock'
    const offline = await sandbox.call(['verify', '--lock', LOCK, '--mirror', 'm'])
    expect([offline.code, offline.stdout]).toEqual([6, expect.stringContaining(ends)])
    const run = await sandbox.call(['download', '--lock', LOCK, '--mirror', 'm', '-o', 'a.csv'])
    expect([run.code, run.stderr]).toEqual([6, expect.stringContaining(ends)])
    expect(sandbox.exists('a.csv')).toBe(false)
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
    const none = await other.call(['download', '--lock', LOCK, '--base-url', server.url, '--mirror', 'empty'])
    expect(none).toMatchObject({ code: 6, stderr: expect.stringContaining(': 2025 has no candle, and 42 locked') })
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
    expect(offline.stdout).toContain(`Windows are missing; what is there is as ${LOCK} has it.\n`)
    expect(offline.stdout).toContain('1 window missing or corrupt:\n  BTCUSDT 15m 2025-01-13: not in the mirror')
  })
})
