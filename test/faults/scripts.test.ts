import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { initDuckdb } from '../support/oracles/duckdb.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { startTestServer } from '../support/servers/test-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile, type Row } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()

const DAY = 86_400_000
const NOW = Date.parse('2025-02-20T12:00Z')
const START_DATE = '2024-01-01'
const LIST = ['2024-01-01', '2026-01-01']
const DAYS = 40

/** What people type, and the one name that it stands for. */
const NAMES: readonly (readonly [typed: string, name: string])[] = [
  ['币安人生usdt', '币安人生USDT'],
  // A letter and its accent, which are composed; in lower case.
  ['n\u0303andu\u0301-usdt', 'ÑANDÚUSDT'],
  // Syllables of Hangul as single letters.
  ['\u1112\u1161\u11ab\u1100\u116e\u11a8/KRW', '한국KRW'],
  // 40 bytes, and four bytes a letter.
  ['\u{10428}'.repeat(10), '\u{10400}'.repeat(10)],
]

const windowPath = (symbol: string) => `api/klines/1d/${symbol}/${START_DATE}.json`

function rows(seed: number): Row[] {
  return Array.from({ length: DAYS }, (_, index) => {
    const opens = Date.parse(START_DATE) + index * DAY
    const price = `${100 + seed}.${String(index).padStart(4, '0')}`
    const quote = (3 * Number(price)).toFixed(4)
    return [opens, price, price, price, price, '3.0', opens + DAY - 1, quote, 7, '1.0', price, '0']
  })
}

/** A service with these symbols. */
async function startService(sandbox: CliSandbox, symbols: readonly string[]): Promise<TreeServer> {
  sandbox.now = NOW
  const tree = tempFolder()
  putFile(tree, 'api/klines/symbols.json', symbols)
  putFile(tree, 'api/klines/start-dates/1d.json', LIST)
  for (const [seed, symbol] of symbols.entries()) putFile(tree, windowPath(symbol), rows(seed))
  const server = await TreeServer.start(tree)
  server.date = NOW
  return server
}

describe('F87 a symbol in another script', () => {
  it.each(NAMES)('%s is %s: one URL, one folder, one file', async (typed, name) => {
    const sandbox = newSandbox()
    const server = await startService(sandbox, ['BTCUSDT', name])
    const args = ['-i', '1d', '--mirror', 'm', '-q', '-o', '{symbol}-{interval}.csv']
    const run = await sandbox.call(['download', typed, ...args, '--base-url', server.url])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows')).toEqual([`api/klines/1d/${encodeURIComponent(name)}/${START_DATE}.json`])
    expect(sandbox.files('m/api/klines/1d')).toEqual([`${name}/${START_DATE}.json`])
    expect(sandbox.text(`m/${windowPath(name)}`)).toBe(JSON.stringify(rows(1)))
    expect(sandbox.text(`${name}-1d.csv`).split('\n')).toHaveLength(1 + DAYS + 1)

    // Other spellings of the same name.
    for (const spelling of [name.normalize('NFD'), name.toLowerCase(), name.toLowerCase().normalize('NFD')]) {
      const again = await sandbox.call(['export', spelling, ...args.with(-1, '{symbol}.csv'), '--force'])
      expect(again, spelling).toMatchObject({ code: 0, stderr: '' })
    }
    expect(sandbox.files().filter(path => path.endsWith('.csv'))).toEqual([`${name}-1d.csv`, `${name}.csv`].sort())
    expect(sandbox.files('m/api/klines/1d')).toEqual([`${name}/${START_DATE}.json`])
  })

  it('is counted, checked and published as any other', async () => {
    const sandbox = newSandbox()
    const names = NAMES.map(([, name]) => name)
    const server = await startService(sandbox, ['BTCUSDT', ...names])
    const mirror = ['--mirror', 'm']
    const call = async (...args: string[]) => {
      const run = await sandbox.call(args)
      expect(run, args.join(' ')).toMatchObject({ code: 0 })
      expectPlainText(run.stdout + run.stderr)
      return run.stdout
    }
    const windows = ['-i', '1d', ...mirror, '--base-url', server.url]
    await call('download', 'all', ...windows, '-q')
    expect(server.paths('windows')).toHaveLength(1 + names.length)
    // A question mark stands for one letter.
    expect(
      await call('export', '币安??USDT', '-i', '1d', ...mirror, '-q', '--columns', 'symbol', '-f', 'csv', '-o', '-'),
    ).toBe(`symbol\n${'币安人生USDT\n'.repeat(DAYS)}`)
    expect(JSON.parse(await call('stats', ...names, '-i', '1d', ...mirror, '--json')).series).toMatchObject(
      names.map(symbol => ({ symbol, candles: DAYS })),
    )
    expect(await call('verify', 'all', '-i', '1d', ...mirror)).toMatch(/^OK: 5 series, 200 candles/)
    await call('mirror', 'publish', ...mirror, '-q')
    expect(JSON.parse(sandbox.text('m/api/klines/symbols.json')).sort()).toEqual(['BTCUSDT', ...names].sort())
  })

  it('has a folder of a lake', async () => {
    const sandbox = newSandbox()
    const names = NAMES.map(([, name]) => name)
    const server = await startService(sandbox, names)
    const args = ['all', '-i', '1d', '--mirror', 'm', '--layout', 'hive', '-q']
    const download = ['download', ...args, '--base-url', server.url]
    expect(await sandbox.call([...download, '-o', 'lake'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('lake').filter(path => path.endsWith('.parquet'))).toEqual(
      names.map(name => `symbol=${name}/interval=1d/part-0.parquet`).sort(),
    )
    const query = await initDuckdb(sandbox.path('lake/_views.sql'))
    expect(await query("select count(*)::int as n from candles('币安人生USDT', '1d')")).toEqual([{ n: DAYS }])
    const all = await query('select distinct symbol from klines order by 1')
    expect(all.map(({ symbol }) => symbol)).toEqual([...names].sort())
  })
})

it('F87 the server has one path for each name, decodes it once, and refuses everything that is not a name', async () => {
  const root = tempFolder()
  const names = NAMES.map(([, name]) => name)
  putFile(root, 'api/klines/symbols.json', names)
  putFile(root, 'api/klines/start-dates/1d.json', LIST)
  for (const name of names) putFile(root, windowPath(name), rows(0))
  const { request } = await startTestServer(root, { now: () => NOW })
  const statusOf = async (symbol: string) => (await request(windowPath(symbol))).status
  for (const name of names) {
    expect(await statusOf(encodeURIComponent(name)), name).toBe(200)
    expect((await request(`/coverage/1d/${encodeURIComponent(name)}.json`)).status).toBe(200)
    expect((await request(`/chart/${encodeURIComponent(name)}/1d`)).status).toBe(200)
    const { status, headers, body } = await request(`/export/1d/${encodeURIComponent(name)}.csv?to=2024-01-03`)
    expect([status, String(body).split('\n').length]).toEqual([200, 1 + 2 + 1])
    expect(headers['content-disposition']).toBe(
      `attachment; filename="candles-1d.csv"; filename*=UTF-8''${encodeURIComponent(name)}-1d.csv`,
    )
    // Of another spelling, an export is the same file; a path of the tree is exact.
    const loose = encodeURIComponent(name.normalize('NFD').toLowerCase())
    expect((await request(`/export/1d/${loose}.csv?to=2024-01-03`)).body.equals(body)).toBe(true)
    if (loose !== encodeURIComponent(name)) expect(await statusOf(loose)).toBe(404)
    expect(await statusOf(encodeURIComponent(encodeURIComponent(name)))).toBe(404)
  }
  const home = String((await request('/')).body)
  for (const name of names) expect(home).toContain(`href="chart/${encodeURIComponent(name)}/1d"`)

  for (const text of ['/', '..', '\u0000', '\u202e', '\u0301', '\u3164', '½'])
    expect(await statusOf(encodeURIComponent(`币${text}安`)), JSON.stringify(text)).toBe(404)
  expect(await statusOf('%FF%FE')).toBe(400)
  expect(await statusOf(encodeURIComponent('币'.repeat(14)))).toBe(404)
})

it('F87 the exchange is asked for names in other scripts, and its names that are none are left out', async () => {
  const market = madeMarket(
    { 币安人生USDT: { from: '2026-03-01T00:00Z' } },
    { names: ['BTC-USDT', '①USDT', 'n\u0303USDT', '币'.repeat(14)] },
  )
  const exchange = await ExchangeServer.start(market)
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  const args = ['-i', '1d', '--base-url', `binance:${exchange.url}`, '--mirror', 'm']
  const run = await sandbox.call(['download', '币安人生usdt', ...args, '-o', 'x.csv'])
  expect(run).toMatchObject({ code: 0 })
  expect(exchange.violations).toEqual([])
  expect(exchange.log.filter(({ kind }) => kind === 'klines').map(({ symbol }) => symbol)).toContain('币安人生USDT')
  expect(exchange.log.every(({ path }) => /^[ -~]+$/.test(path))).toBe(true)
  // From 1 March to 29 April 2026.
  expect(sandbox.text('x.csv').trim().split('\n')).toHaveLength(1 + 60)
  const list = await sandbox.call(['download', '币*', ...args])
  expect(list).toMatchObject({ code: 0 })
  expect(list.stderr).toMatch(
    /^Note: Names \(4\) that are not 2 or more letters and digits, .* are left out: "BTC-USDT", "①USDT"/m,
  )
})

it.each([
  ['one letter', '币'],
  ['a path', '币安/../../etc'],
  ['a mark for the direction of writing', '币安\u202eUSDT'],
])('F87 %s is no symbol: exit code 2, and nothing is made', async (_, text) => {
  const sandbox = newSandbox()
  const run = await sandbox.call(['download', text, '-i', '1d', '--mirror', 'm', '--base-url', 'http://127.0.0.1:1'])
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expect(run.stderr).toContain('Expected 2 or more letters and digits, at most 40 bytes of UTF-8, such as BTCUSDT.')
  expectPlainText(run.stderr)
  expect(sandbox.files()).toEqual([])
})
