import { cpSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { windowPath } from '../../src/candles/paths.js'
import type { Series } from '../../src/candles/series.js'
import { startDateAt } from '../../src/candles/windows.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { makeOffGridTree } from '../support/off-grid-tree.js'
import { type FileRow, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'
import { putFile, type Row } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const SYMBOL = 'AAAUSDT'
const [FIRST, LOST, NEXT, END] = ['2026-02-19', '2026-02-20', '2026-02-21', '2026-02-22'].map(day => Date.parse(day))
const NOW = Date.parse('2026-05-01')
const DAY_RANGE = ['--from', '2026-02-20', '--to', '2026-02-21']

/** What is in a mirror. */
interface Made {
  /** When the symbol was traded, ms UTC. */
  readonly from?: number
  readonly until?: number
  /** When the exchange was down. */
  readonly outage?: readonly [start: number, end: number]
  /** The minutes that the file of the second day lost. */
  readonly lost?: readonly [start: number, end: number]
  /** The days whose file of minutes is there. */
  readonly days?: readonly number[]
  /** When the last file of minutes was stored. */
  readonly storedAt?: number
}

/** Verifies a mirror of the exchange with three days of minutes, or of minutes and hours, from 19 to 21 February. */
async function verify(args: readonly string[], made: Made = {}) {
  const {
    from = FIRST,
    until = END,
    outage,
    lost = [END, END],
    days = [FIRST, LOST, NEXT],
    storedAt = NOW - DAY,
  } = made
  const sandbox = newSandbox()
  sandbox.now = NOW
  const root = sandbox.path('m')
  putFile(root, 'mirror.json', { layout: 1, baseUrl: 'binance' })
  const rows = (interval: string) => makeRows(SYMBOL, interval, from, until, outage ? [outage] : [], MINUTE)
  const put = (interval: Series['interval'], startDate: string, content: unknown, mtime: number) =>
    putFile(root, windowPath({ symbol: SYMBOL, interval, startDate }), content, mtime)
  put('1h', '2026-02-01', rows('1h'), NOW - DAY)
  const minutes = rows('1m').filter(([time]) => time < lost[0] || time >= lost[1])
  for (const day of days) {
    const date = startDateAt('1m', day)
    const content = minutes.filter(([time]) => startDateAt('1m', time) === date)
    put('1m', date, content, day === days.at(-1) ? storedAt : NOW - DAY)
  }
  const run = await sandbox.call(['verify', SYMBOL, ...args, '--mirror', 'm'])
  const [verdict] = run.stdout.split('\n')
  return { ...run, verdict }
}

const BOTH = ['-i', '1m,1h', ...DAY_RANGE]
const TEN = LOST + 10 * HOUR

describe('klines verify of a day', () => {
  it('that lost its candles after 10 o’clock has failed: hours have no minutes', async () => {
    const run = await verify([...BOTH, '--fail-on-gaps'], { lost: [TEN, NEXT] })
    expect(run).toMatchObject({ code: 6, verdict: 'FAILED: 2 of 2 series: 14 candles differ, 1 gap' })
    // Nothing is finer than the 600 minutes; every hour is compared.
    expect(run.stdout).toMatch(/^Not compared, because no finer candles are cached: 600 of 624 candles$/m)
  })

  it.each<[string, readonly [number, number], readonly string[]]>([
    ['ends', [LOST + 21 * HOUR, NEXT], DAY_RANGE],
    [
      'ends, in a range that ends within it,',
      [LOST + 17 * HOUR, NEXT],
      ['--from', '2026-02-20', '--to', '2026-02-20T20:00'],
    ],
  ])('%s with an outage: it is a gap', async (_, outage, range) => {
    const run = await verify(['-i', '1m', ...range, '--fail-on-gaps'], { outage })
    expect(run).toMatchObject({ code: 6, verdict: 'FAILED: 1 of 1 series: 1 gap' })
    expect(run.stdout).toMatch(/^\S+ \S+ +3 h +AAAUSDT 1m$/m)
  })

  it('that has no candle is a gap between two that have', async () => {
    const outage = [LOST, NEXT] as const
    const run = await verify(['-i', '1m', ...DAY_RANGE, '--json', '--fail-on-gaps'], { outage })
    expect(run.code).toBe(6)
    expect(JSON.parse(run.stdout).series[0].gaps).toMatchObject([{ startTime: LOST, endTime: NEXT, missing: 1440 }])
  })

  it.each<[string, Made]>([
    ['on which trading began', { from: TEN + 17 * MINUTE, days: [LOST, NEXT] }],
    ['after which nothing is cached', { days: [FIRST, LOST], storedAt: NEXT + DAY }],
  ])('%s has no gap', async (_, made) => {
    const run = await verify([...BOTH, '--fail-on-gaps'], made)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.verdict).toMatch(/^OK: 2 series, [\d,]+ candles, \d+ comparisons$/)
  })

  it.each<[string, Made]>([
    // 10:17 to 24:00 of 1m, and 11:00 to 24:00 of 1h.
    ['on which trading ended, as one answer says,', { until: TEN + 17 * MINUTE }],
    // The hours are all there.
    ['whose minutes were downloaded at 10 o’clock', { lost: [TEN, END], days: [FIRST, LOST], storedAt: TEN }],
  ])('%s has no gap, and fewer candles than requested', async (_, made) => {
    const short = made.until === undefined ? 14 * 60 : 14 * 60 - 17 + 13
    const [plain, failing] = await Promise.all([verify(BOTH, made), verify([...BOTH, '--fail-on-gaps'], made)])
    expect(plain).toMatchObject({ code: 0, stderr: '' })
    expect(plain.verdict).toMatch(
      new RegExp(`^SHORT: 2 series, [\\d,]+ candles, ${short} fewer than requested, \\d+ comparisons$`),
    )
    expect(failing.code).toBe(6)
    expect(failing.verdict).toMatch(new RegExp(`^FAILED: \\d of 2 series: ${short} candles fewer than requested$`))
  })
})

/** A sandbox with the sample, which ends with March 2025, as the mirror `m`. */
function sampleMirror(): CliSandbox {
  const sandbox = newSandbox()
  sandbox.now = Date.UTC(2025, 3, 2)
  cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true, preserveTimestamps: true })
  rmSync(sandbox.path('m/mirror.json'))
  return sandbox
}

describe('klines verify -v of a short range', () => {
  const OPEN = Date.parse('2025-02-10T21:00Z')
  const HOUR_RANGE = ['--from', '2025-02-10T21:00', '--to', '2025-02-10T22:00']
  const verifyCells = (sandbox: CliSandbox, ...args: string[]) =>
    sandbox.call(['verify', 'BTCUSDT', ...args, '--mirror', 'm', '-v'])

  it('shows the candle beside its exact sum, cell by cell; every line fits 80 columns', async () => {
    const row = sampleRows('BTCUSDT', '1h').find(([openTime]) => openTime === OPEN) as FileRow
    const run = await verifyCells(sampleMirror(), '-i', '1h', ...HOUR_RANGE)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(run.stdout).toMatch(/^BTCUSDT 1h 2025-02-10 21:00 \(UTC\):\n +candle +sum of 4 x 15m$/m)
    for (const [column, index] of Object.entries({ open: 1, volume: 5, count: 8, ignore: 11 }))
      expect(run.stdout).toMatch(new RegExp(`^${column} +${row[index]} +${row[index]}$`, 'm'))
    expect(run.stdout).toMatch(/^close_time +2025-02-10 21:59:59\.999 +2025-02-10 21:59:59\.999$/m)
  })

  it('marks a cell of which the finer candles have another sum', async () => {
    const sandbox = sampleMirror()
    const path = 'api/klines/1h/BTCUSDT/2025-02-01.json'
    const rows: Row[] = JSON.parse(sandbox.text(`m/${path}`))
    const changed = rows.map(row => (row[0] === OPEN ? row.with(5, '1.00000000') : row))
    putFile(sandbox.path('m'), path, changed)
    const run = await verifyCells(sandbox, '-i', '15m,1h', ...HOUR_RANGE)
    expect(run.code).toBe(6)
    expect(run.stdout).toMatch(/^volume +1\.00000000 +[\d.]+ +!=$/m)
  })

  it('candles off the grid, where the exchange itself has them, have no sum', async () => {
    const sandbox = newSandbox()
    makeOffGridTree(sandbox.path('m'))
    const run = await verifyCells(sandbox, '-i', '1h', '--from', '2018-02-09T09:00', '--to', '2018-02-09T11:00')
    expect(run.stdout).toContain('\nBTCUSDT 1h 2018-02-09 09:28:14.789 (UTC):\n')
    expect(run.stdout).not.toContain('sum of')
  })
})
