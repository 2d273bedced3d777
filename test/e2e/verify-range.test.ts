import { describe, expect, it } from 'vitest'
import { windowPath } from '../../src/candles/paths.js'
import type { Series } from '../../src/candles/series.js'
import { startDateAt } from '../../src/candles/windows.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { putFile } from '../support/synthetic-tree.js'

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
  it.each<[string, Made & Required<Pick<Made, 'lost'>>, string]>([
    ['that lost its candles after 10 o’clock', { lost: [TEN, NEXT] }, '2 of 2 series: 14 candles differ, 1 gap'],
  ])('%s has failed: hours have no minutes', async (_, made, reasons) => {
    const { lost } = made
    const run = await verify([...BOTH, '--fail-on-gaps'], made)
    expect(run).toMatchObject({ code: 6, verdict: `FAILED: ${reasons}` })
    // Nothing is finer than minutes; every hour is compared.
    const minutes = (NEXT - LOST - (lost[1] - lost[0])) / MINUTE
    const unverified = `${minutes} of ${minutes + 24} candles`
    expect(/^Not compared, because no finer candles are cached: (.*)$/m.exec(run.stdout)?.[1]).toBe(
      minutes > 0 ? unverified : undefined,
    )
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
