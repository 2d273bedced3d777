import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startDatesPath, windowPath } from '../../src/klines/paths.js'
import { knownStartDates, windowSpan } from '../../src/klines/windows.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const SYMBOL = 'BTCUSDT'
const FROM = '2026-03-02'
/** Where the candles of 1h end. */
const CUT = Date.parse('2026-03-10T00:00Z')
const NOW = Date.parse('2026-03-12T04:00:30Z')
const MARKET = madeMarket({ [SYMBOL]: { from: '2026-03-02T00:00Z' } }, { until: NOW + 86_400_000 })

/** A source at a time that sends an interval up to another time. */
interface Source {
  readonly baseUrl: string
  serve(interval: '15m' | '1h', time: number, until: number): void
}

async function staticService(sandbox: CliSandbox): Promise<Source> {
  const tree = sandbox.path('tree')
  const server = await TreeServer.start(tree)
  putFile(tree, 'api/klines/symbols.json', [SYMBOL])
  const serve: Source['serve'] = (interval, time, until) => {
    server.date = time
    const startDates = knownStartDates(interval)
    putFile(tree, startDatesPath(interval), startDates)
    const rows = (MARKET.rows(SYMBOL, interval) ?? []).filter(row => row[6] < until)
    for (const startDate of startDates) {
      const { startTime, endTime } = windowSpan({ interval, startDate })
      if (endTime <= Date.parse(FROM) || startTime > NOW) continue
      const content = rows.filter(([openTime]) => openTime >= startTime && openTime < endTime)
      putFile(tree, windowPath({ symbol: SYMBOL, interval, startDate }), content, time)
    }
  }
  return { baseUrl: server.url, serve }
}

async function exchange(): Promise<Source> {
  const ends = { '15m': CUT, '1h': CUT }
  const rows: typeof MARKET.rows = (symbol, interval) =>
    MARKET.rows(symbol, interval)?.filter(row => row[6] < ends[interval as '15m' | '1h'])
  const server = await ExchangeServer.start({ ...MARKET, rows })
  const serve: Source['serve'] = (interval, time, until) => {
    server.now = time
    ends[interval] = until
  }
  return { baseUrl: `binance:${server.url}`, serve }
}

describe.each([
  ['a static service', staticService],
  ['the exchange', exchange],
] as const)('F77 hours of %s that lack candles which quarters of an hour have', (_, open) => {
  async function setUp() {
    const sandbox = newSandbox()
    const { baseUrl, serve } = await open(sandbox)
    /** Downloads an interval at a time at which the source has its candles until another one. */
    const download = async (interval: '15m' | '1h', time: number, until: number) => {
      sandbox.now = time
      serve(interval, time, until)
      const args = ['-i', interval, '--from', FROM, '--mirror', 'm', '--base-url', baseUrl, '-q']
      expect(await sandbox.call(['download', SYMBOL, ...args])).toMatchObject({ code: 0 })
    }
    const verify = (...args: string[]) => sandbox.call(['verify', SYMBOL, '-i', '15m,1h', '--mirror', 'm', ...args])
    const command = (interval: string) => `klines download BTCUSDT -i ${interval} --base-url ${baseUrl} --mirror m\n`
    return { sandbox, download, verify, command }
  }

  it.each([30_000, 37 * 60_000])(
    'and that closed later than they were downloaded (%d ms after the last one) are older: a note that says what brings them up to date',
    async later => {
      const { download, verify, command } = await setUp()
      await download('1h', CUT + later, CUT)
      await download('15m', NOW, NOW)
      const run = await verify()
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(run.stdout).toMatch(/^OK: 2 series/)
      expect(run.stdout).toContain(
        'Notes: series that end before a candle of another interval (UTC):\n' +
          `BTCUSDT 1h: last candle 2026-03-09 23:00, 15m has later ones:\n    ${command('1h')}`,
      )
      const { series } = JSON.parse((await verify('--json')).stdout)
      expect(series).toMatchObject([
        { interval: '15m', olderThan: null },
        { interval: '1h', olderThan: '15m' },
      ])
      // A range that ends before needs none of them.
      expect((await verify('--to', '2026-03-10')).stdout).not.toContain('Notes:')

      await download('1h', NOW, NOW)
      const current = await verify()
      expect(current).toMatchObject({ code: 0, stderr: '' })
      expect(current.stdout).not.toContain('Notes:')
    },
  )

  it('and that closed before they were downloaded have failed', async () => {
    const { download, verify } = await setUp()
    await download('15m', NOW, NOW)
    await download('1h', NOW, CUT)
    const run = await verify()
    expect(run.code).toBe(6)
    expect(run.stdout).toMatch(/^FAILED: 1 of 2 series: \d+ candles differ\n/)
    expect(run.stdout).toContain('BTCUSDT 1h 2026-03-10 00:00: no candle, but 4 finer candles (15m)\n')
    expect(run.stdout).not.toContain('Notes: series that end before a candle of another interval')
    expect(run.stdout).toMatch(/^ {4}klines download BTCUSDT -i 1h --from 2026-03-01 --to 2026-0\d-01 --refresh /m)
    await download('1h', NOW + 3_600_000, NOW)
    expect((await verify()).code).toBe(0)
  })

  it('and whose mirror names an address with words for a shell are noted with a command that has none', async () => {
    const { sandbox, download, verify } = await setUp()
    await download('1h', CUT + 30_000, CUT)
    await download('15m', NOW, NOW)
    const meta = JSON.parse(sandbox.text('m/mirror.json'))
    sandbox.write('m/mirror.json', JSON.stringify({ ...meta, baseUrl: 'http://127.0.0.1:1/$(reboot);x' }))
    const run = await verify()
    expect(run.code).toBe(0)
    expect(run.stdout).toContain(
      "    klines download BTCUSDT -i 1h --base-url 'http://127.0.0.1:1/$(reboot);x' --mirror m\n",
    )
  })

  it('are older when nothing is recorded about them', async () => {
    const { sandbox, download, verify, command } = await setUp()
    await download('15m', NOW, NOW)
    await download('1h', NOW, CUT)
    rmSync(sandbox.path('m/.klines-record'))
    const run = await verify()
    expect(run.code).toBe(0)
    expect(run.stdout).toContain(command('1h'))
  })
})
