import { describe, expect, it, onTestFinished } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { until } from '../support/deferred.js'
import { banned } from '../support/exchange/exchange-answers.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { requestFrom } from '../support/servers/test-server.js'

const newSandbox = useSandboxes()

/** 30 names that end on EUR. */
const EURO_NAMES = Array.from({ length: 30 }, (_, index) => `C${index}EUR`)
/** Some months are enough for those with many windows. */
const LISTED = {
  BTCEUR: { from: '2025-06-02T08:00Z' },
  BTCUSDT: { from: '2025-10-20T00:00Z' },
  ETHUSDT: { from: '2025-11-03T06:00Z' },
}
const MARKET = madeMarket({ ...MADE_SYMBOLS, ...LISTED }, { names: EURO_NAMES, until: '2026-05-05' })

/** An exchange, and a sandbox whose clock is the exchange's. */
async function setup(): Promise<{ exchange: ExchangeServer; sandbox: CliSandbox; baseUrl: string }> {
  const exchange = await ExchangeServer.start(MARKET)
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  onTestFinished(() => expect(exchange.violations).toEqual([]))
  return { exchange, sandbox, baseUrl: `binance:${exchange.url}` }
}

const lines = (text: string) => text.trimEnd().split('\n')

describe('the exchange as a source', () => {
  it('downloads symbols and exports a file each, then only what can have changed', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    // With some latency there are as many requests at once as the limit allows.
    exchange.hold = () => new Promise(resolve => setTimeout(resolve, 5))
    const args = ['download', 'PEPEUSDT', 'btc/eur', '-i', '1h,4h,1d', '--base-url', baseUrl, '--mirror', 'm']
    const first = await sandbox.call([...args, '-o', '{symbol}-{interval}.csv', '--json'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(exchange.peak).toBe(4)
    const { series, requests } = JSON.parse(first.stdout)
    // The exchange's clock, the first candle of each series, and each window from there on.
    const windows = [12, 5, 2, 11, 5, 2]
    expect(series.map((report: { windows: { fetched: number } }) => report.windows.fetched)).toEqual(windows)
    expect(requests).toBe(windows.reduce((a, b) => a + b, 1) + windows.length)
    expect(exchange.log).toHaveLength(requests)
    const daily = lines(sandbox.text('PEPEUSDT-1d.csv'))
    // From 2025-05-05 to 2026-04-29: the present day is not closed.
    expect(daily).toHaveLength(1 + 360)
    expect(daily[1].startsWith(`${Date.UTC(2025, 4, 5)},`)).toBe(true)
    expect(daily.at(-1)?.startsWith(`${Date.UTC(2026, 3, 29)},`)).toBe(true)

    exchange.reset()
    const second = await sandbox.call(args)
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(second.stdout).toContain('Everything is up to date. Windows: 0 downloaded, 6 revalidated, ')
    // The exchange's clock, and the window of the present of each series.
    expect(exchange.log.map(({ kind }) => kind).sort()).toEqual([...Array(6).fill('klines'), 'time'])

    exchange.reset()
    const offline = await sandbox.call(['export', 'all', '-i', '1d', '-f', 'csv', '--mirror', 'm'])
    expect(offline).toMatchObject({ code: 0, stderr: '' })
    const exported = lines(offline.stdout).filter(line => line.startsWith('PEPEUSDT,1d,'))
    expect(exported.map(line => line.slice('PEPEUSDT,1d,'.length))).toEqual(daily.slice(1))
    expect(exchange.log).toEqual([])
  })

  it('fills a tree of several intervals, and serves it up to date', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const args = ['download', 'BTCUSDT', 'ETHUSDT', '-i', '1h,1d,1w,1M', '--base-url', baseUrl, '--mirror', 'tree']
    const dryRun = await sandbox.call([...args, '--dry-run', '--json'])
    const planned = JSON.parse(dryRun.stdout).series.reduce(
      (sum: number, { windows }: { windows: { missing: number } }) => sum + windows.missing,
      0,
    )
    // The exchange's clock, and the first candle of each series: the windows before it need no request.
    expect(exchange.log).toHaveLength(9)
    expect(sandbox.exists('tree')).toBe(false)
    exchange.reset()
    expect(await sandbox.call([...args, '--concurrency', '16'])).toMatchObject({ code: 0 })
    expect(exchange.log).toHaveLength(planned + 9)

    exchange.reset()
    exchange.now = EXCHANGE_NOW + 3_600_000
    sandbox.now = exchange.now
    const server = await startServeCommand(sandbox, ['--mirror', 'tree', '--upstream', '--base-url', baseUrl])
    const get = (path: string) => requestFrom(server.url, `api/klines/${path}`)
    expect(String((await get('symbols.json')).body)).toBe('["BTCUSDT","ETHUSDT"]')
    expect((await get('1h/BTCUSDT/2026-01-01.json')).headers['cache-control']).toContain('immutable')
    expect(exchange.log).toEqual([])
    const rows = JSON.parse(String((await get('1h/BTCUSDT/2026-04-01.json')).body))
    expect(rows.at(-1)[0]).toBe(Date.UTC(2026, 3, 30, 4))
    expect(exchange.log).toHaveLength(1)
    expect((await server.stop()).code).toBe(0)
  })

  it('says in a dry run how many requests a download takes, and how long', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const run = await sandbox.call(['download', 'PEPEUSDT', '-i', '15m,1d', '--base-url', baseUrl, '--dry-run'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    // The first candle of each series is requested, so the windows before it are not counted.
    expect(run.stdout).toContain(`Dry run: 54 windows would be requested; nothing was downloaded or written.
The run takes about 54 requests to the exchange.
`)
    expect(exchange.log.map(({ startTime }) => startTime)).toEqual([undefined, 0, 0])
  })

  it('keeps what it has when it is interrupted, and goes on from there', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const args = ['download', 'PEPEUSDT', '-i', '1h', '--base-url', baseUrl, '--mirror', 'm']
    const never = new Promise<void>(() => {})
    exchange.hold = () => (exchange.log.length > 7 ? never : undefined)
    const { child, ended } = sandbox.start([...args, '--concurrency', '2'])
    await until(() => exchange.log.length === 9)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(code).toBe(130)
    expect(stderr).toMatch(/^klines: Interrupted \(SIGINT\)/m)
    exchange.reset()
    expect(await sandbox.call([...args, '-q'])).toMatchObject({ code: 0, stderr: '' })
    // 12 windows, of which five were downloaded.
    expect(exchange.log.filter(({ limit }) => limit === 1000)).toHaveLength(7)
  })
})

describe('exit codes with the exchange', () => {
  it.each([
    ['2 for an unknown symbol', 'PEPEUSTD -i 1d', 2, /Unknown symbol "PEPEUSTD".*\n {2}Did you mean PEPEUSDT\?/],
    ['2 for all of an empty mirror', 'all -i 1d', 2, /m has none yet\.\n {2}Name symbols, or a quoted pattern/],
  ])('%s', async (_, words, expected, message) => {
    const { exchange, sandbox, baseUrl } = await setup()
    const run = await sandbox.call(['download', ...words.split(' '), '--base-url', baseUrl, '--mirror', 'm'])
    expect(run.code).toBe(expected)
    expect(run.stderr).toMatch(message)
    expect(exchange.log.filter(({ limit }) => limit === 1000)).toEqual([])
  })

  it('5 for a ban, at once', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    exchange.always('', banned(EXCHANGE_NOW + 300_000, 300))
    const args = ['download', 'PEPEUSDT', '-i', '1d', '--base-url', baseUrl, '--mirror', 'm', '--concurrency', '1']
    const { code, stderr } = await sandbox.call(args)
    expect(code).toBe(5)
    expect(stderr).toMatch(/418 .*banned until .*\n {2}Wait until then/)
    expect(exchange.log).toHaveLength(1)
  })
})
