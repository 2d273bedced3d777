import { describe, expect, it, onTestFinished } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { until } from '../support/deferred.js'
import { banned, FORBIDDEN, INTERNAL_ERROR, RESTRICTED } from '../support/exchange/exchange-answers.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { closedPort } from '../support/servers/closed-port.js'
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
const MARKET = madeMarket({ ...MADE_SYMBOLS, ...LISTED }, { names: EURO_NAMES })

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
    const args = ['download', 'PEPEUSDT', 'btc/eur', '-i', '15m,1h,1d', '--base-url', baseUrl, '--mirror', 'm']
    const first = await sandbox.call([...args, '-o', '{symbol}-{interval}.csv', '--json'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(exchange.peak).toBe(4)
    const { series, requests } = JSON.parse(first.stdout)
    // The exchange's clock, the first candle of each series, and each window from there on.
    const windows = [52, 12, 2, 48, 11, 2]
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

  it('fills a tree of all intervals, and serves it up to date', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const args = ['download', 'BTCUSDT', 'ETHUSDT', '-i', 'all', '--base-url', baseUrl, '--mirror', 'tree']
    const dryRun = await sandbox.call([...args, '--dry-run', '--json'])
    const planned = JSON.parse(dryRun.stdout).series.reduce(
      (sum: number, { windows }: { windows: { missing: number } }) => sum + windows.missing,
      0,
    )
    // The exchange's clock, and the first candle of each series: the windows before it need no request.
    expect(exchange.log).toHaveLength(25)
    expect(sandbox.exists('tree')).toBe(false)
    exchange.reset()
    expect(await sandbox.call([...args, '--concurrency', '16'])).toMatchObject({ code: 0 })
    expect(exchange.log).toHaveLength(planned + 25)

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

  it('lists the symbols of the exchange for grep', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const { stdout, code } = await sandbox.shell(`klines symbols --base-url ${baseUrl} | grep EUR`)
    expect(code).toBe(0)
    expect(lines(stdout).map(line => line.split(' ')[0])).toEqual(['BTCEUR', ...[...EURO_NAMES].sort()])
    expect(exchange.log.map(({ path }) => path)).toEqual(['api/v3/ticker/price'])
    // Lists leave no mirror.
    expect(sandbox.files()).toEqual([])
  })

  it('downloads a pattern of many symbols', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const args = ['download', '*EUR', '-i', '1M', '--base-url', baseUrl, '--mirror', 'm']
    expect(await sandbox.call(args)).toMatchObject({
      code: 0,
      stderr: '',
    })
    // The first candle of each, and the present window: one empty answer does not prove that there is no candle.
    expect(exchange.log.filter(({ kind }) => kind === 'klines')).toHaveLength(62)
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

  it.runIf(hasScript)('waits for the next minute at half of the limit, and says why', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const start = performance.now()
    // Two seconds before the end of a minute.
    exchange.now = () => EXCHANGE_NOW + 58_000 + performance.now() - start
    exchange.hold = () => {
      // After the clock and the first candle.
      if (exchange.log.length === 2) exchange.otherWeight = 2998
    }
    const command = `klines download PEPEUSDT -i 1d --base-url ${baseUrl} --mirror m`
    const { code, stdout } = await atTerminal(sandbox, command)
    expect(code).toBe(0)
    const [, first, ...rest] = exchange.log.map(({ time }) => Math.floor(time / 60_000))
    expect(rest).toEqual([first + 1, first + 1])
    expect(stdout).toContain('half the request limit is used')
  })
})

describe('exit codes with the exchange', () => {
  it.each([
    ['2 for an unknown symbol', 'PEPEUSTD -i 1d', 2, /Unknown symbol "PEPEUSTD".*\n {2}Did you mean PEPEUSDT\?/],
    ['2 for seconds', 'PEPEUSDT -i 1s', 2, /https:\/\/data\.binance\.vision has them as daily archives/],
    ['2 for all of an empty mirror', 'all -i 1d', 2, /m has none yet\.\n {2}Name symbols, or a quoted pattern/],
    ['4 for a range before the listing', 'PEPEUSDT -i 1d --to 2024-01-01 -o x.csv', 4, /./],
  ])('%s', async (_, words, expected, message) => {
    const { exchange, sandbox, baseUrl } = await setup()
    const run = await sandbox.call(['download', ...words.split(' '), '--base-url', baseUrl, '--mirror', 'm'])
    expect(run.code).toBe(expected)
    expect(run.stderr).toMatch(message)
    // At most the window of the first candle, which confirms that there is none before.
    expect(exchange.log.filter(({ limit }) => limit === 1000).length).toBeLessThanOrEqual(expected === 4 ? 1 : 0)
    expect(sandbox.files('.').filter(name => /\.csv$/.test(name))).toEqual([])
  })

  it('3 for a window that could not be downloaded', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const startTime = Date.UTC(2025, 6, 1)
    exchange.always(request => request.startTime === startTime, { ...INTERNAL_ERROR, status: 404 })
    const args = ['download', 'PEPEUSDT', '-i', '1h', '--base-url', baseUrl, '--mirror', 'm', '--retries', '0']
    const { code, stderr } = await sandbox.call(args)
    expect(code).toBe(3)
    expect(stderr).toContain('PEPEUSDT 1h 2025-07-01')
    exchange.reset()
    expect((await sandbox.call(args)).code).toBe(0)
  })

  it('3 for a symbol that the mirror does not have, offline', async () => {
    const { exchange, sandbox, baseUrl } = await setup()
    const where = ['--base-url', baseUrl, '--mirror', 'm']
    expect((await sandbox.call(['download', 'PEPEUSDT', '-i', '1d', ...where])).code).toBe(0)
    exchange.reset()
    const { code, stderr } = await sandbox.call(['export', 'PEPEUSTD', '-i', '1d', '--mirror', 'm'])
    expect(code).toBe(3)
    expect(stderr).toContain('Did you mean PEPEUSDT?')
    expect(stderr).toContain(`klines download SYMBOL -i INTERVAL --base-url ${baseUrl}, with the same --mirror.`)
    expect(exchange.log).toEqual([])
  })

  it.each([
    ['a ban', banned(EXCHANGE_NOW + 300_000, 300), /418 .*banned until .*\n {2}Wait until then/],
    ['the firewall', FORBIDDEN, /403 \(Forbidden\): its firewall.*\n {2}Wait some minutes/],
    ['a region that is not served', RESTRICTED, /451 .*: it does not serve this region/],
  ])('5 for %s, at once', async (_, answer, message) => {
    const { exchange, sandbox, baseUrl } = await setup()
    exchange.always('', answer)
    const args = ['download', 'PEPEUSDT', '-i', '1d', '--base-url', baseUrl, '--mirror', 'm', '--concurrency', '1']
    const { code, stderr } = await sandbox.call(args)
    expect(code).toBe(5)
    expect(stderr).toMatch(message)
    expect(exchange.log).toHaveLength(1)
  })

  it('5 for an exchange that cannot be reached', async () => {
    const sandbox = newSandbox()
    const address = `http://127.0.0.1:${await closedPort()}`
    const args = ['download', 'PEPEUSDT', '-i', '1d', '--base-url', `binance:${address}`, '--retries', '0']
    const { code, stderr } = await sandbox.call(args)
    expect(code).toBe(5)
    expect(stderr).toContain(`klines: The exchange at ${address} cannot be reached`)
  })

  it.each([
    ['users', 'update', '123e4567-e89b-12d3-a456-426614174000', '--email', 'a@example.com'],
    ['streams', 'tokens'],
    ['openapi'],
  ])('2 for %s %s: the exchange has no greeting API', async (...args) => {
    const { code, stderr } = await newSandbox().call([...args, '--base-url', 'binance'])
    expect(code).toBe(2)
    expect(stderr).toContain('"binance" is the exchange, which has candles alone.')
  })
})
