import { cpSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MirrorPublishSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { snapshot } from '../support/snapshot.js'

const newSandbox = useSandboxes()
const OWN = 'http://127.0.0.1:8090'

/** A sandbox with mirrors in its cache folder, by the names of their folders: copies of the sample with another address. */
function sandboxWith(mirrors: Record<string, string>) {
  const sandbox = newSandbox()
  for (const [name, baseUrl] of Object.entries(mirrors)) putMirror(sandbox, `cache/klines/${name}`, baseUrl)
  const env = { XDG_CACHE_HOME: sandbox.path('cache') }
  return { sandbox, call: (args: string) => sandbox.call(args.split(' '), env) }
}

function putMirror(sandbox: CliSandbox, folder: string, baseUrl: string): void {
  cpSync(SAMPLE_TREE, sandbox.path(folder), { recursive: true })
  sandbox.write(`${folder}/mirror.json`, JSON.stringify({ layout: 1, baseUrl }))
}

describe('klines mirror', () => {
  it('shows the named mirror, and a line for each other one of the cache folder', async () => {
    const { sandbox, call } = sandboxWith({ 'http_127.0.0.1_8090': OWN, sample: 'sample' })
    putMirror(sandbox, 'mine', 'https://klines.example')
    sandbox.write('cache/klines/notes.txt', 'not a mirror')
    const { mirror, baseUrl, cachedBytes, series, others } = JSON.parse(
      (await call('mirror --json --mirror mine')).stdout,
    )
    expect([mirror, baseUrl, series.length]).toEqual(['mine', 'https://klines.example', 24])
    const figures = { symbols: 2, series: 24, newest: Date.UTC(2025, 2, 30, 23, 45) }
    expect(others).toMatchObject([
      { baseUrl: OWN, root: sandbox.path('cache/klines/http_127.0.0.1_8090'), ...figures },
      { baseUrl: 'sample', ...figures },
    ])
    const bytes = sandbox.files('mine/api').filter(name => !/symbols|start-dates/.test(name))
    expect(cachedBytes).toBe(bytes.reduce((sum, name) => sum + sandbox.bytes(`mine/api/${name}`).length, 0))
    const { stdout, code } = await call(`mirror --base-url ${OWN}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sample +2 +[\d.]+ [kM]B +2025-03-30 23:45 +\/.*\/cache\/klines\/sample$/m)
    expect(stdout.split('\n').filter(line => line.includes('/cache/klines/http'))).toHaveLength(2)
  })
})

it.each(['statSync', 'readdirSync'])(
  'a folder of a series that cannot be searched (%s) is named, exit 3',
  async call => {
    const { sandbox } = sandboxWith({ own: OWN })
    const fault = { call, path: 'api/klines/1d/BTCUSDT', code: 'EACCES' }
    const run = await sandbox.call(['mirror', '--mirror', 'cache/klines/own'], {}, { faults: [fault] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot read api\/klines\/1d\/BTCUSDT\S* of the mirror \S+: permission denied/)
  },
)

describe('a run without a mirror of the default address', () => {
  it.each(['export BTCUSDT -i 1h', 'serve'])('%s names the mirror that there is', async args => {
    const { call } = sandboxWith({ 'http_127.0.0.1_8090': OWN })
    const { code, stdout, stderr } = await call(args)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(
      /There is a mirror of http:\/\/127\.0\.0\.1:8090: add its --base-url, or run klines config set base-url ADDRESS$/m,
    )
  })
})

it('of two addresses whose folders would have the same name, the second one needs --mirror', async () => {
  const { call } = sandboxWith({ 'klines.example_a_b': 'https://klines.example/a/b' })
  const { code, stderr } = await call('mirror --base-url https://klines.example/a_b')
  expect(code).toBe(2)
  expect(stderr).toMatch(/is a mirror of https:\/\/klines.example\/a\/b, not of https:\/\/klines.example\/a_b/)
  expect(stderr).toMatch(/with --mirror/)
})

/** Half a year of the older symbol is enough. */
const MARKET = madeMarket({ ...MADE_SYMBOLS, BTCEUR: { from: '2025-10-20T08:00Z' } }, { until: '2026-05-05' })
const INTERVALS = ['1h', '1d', '1M']
const PUBLISH = ['mirror', 'publish', '--mirror', 'tree']

/** A sandbox with the exchange's clock and a mirror of NEWUSDT and BTCEUR. */
async function downloaded(intervals: string): Promise<{ sandbox: CliSandbox; exchange: ExchangeServer; url: string }> {
  const exchange = await ExchangeServer.start(MARKET)
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  const url = `binance:${exchange.url}`
  const args = ['download', 'NEWUSDT', 'btc/eur', '-i', intervals, '--base-url', url, '--mirror', 'tree', '-q']
  expect(await sandbox.call(args)).toMatchObject({ code: 0, stderr: '' })
  exchange.reset()
  return { sandbox, exchange, url }
}

describe('klines mirror publish', () => {
  it('makes a tree of which a plain file server answers every window, so that everything can be downloaded from it', async () => {
    const { sandbox, exchange } = await downloaded(INTERVALS.join())
    const run = await sandbox.call(PUBLISH)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(
      /^The tree is complete: 2 symbols, 3 intervals, [\d,]+ windows\. Written: [\d,]+ empty windows, 4 lists\.\nAny static host can serve it: upload tree\/api as the folder api of its address\.\n$/,
    )
    expect(exchange.log).toEqual([])

    // What a plain file server answers with.
    const get = (path: string): string[] => JSON.parse(sandbox.text(`tree/api/klines/${path}.json`))
    const symbols = get('symbols')
    expect(symbols).toEqual(['BTCEUR', 'NEWUSDT'])
    const { paths, components, servers } = JSON.parse(sandbox.text('tree/api/openapi.json'))
    const described = Object.keys(paths).flatMap(path => /([^/]+)\/\{symbol\}/.exec(path)?.[1] ?? [])
    expect(described).toEqual(INTERVALS)
    expect(components.schemas.Interval.enum).toEqual(INTERVALS)
    expect(components.schemas.StartDate1d.enum).toEqual(get('start-dates/1d'))
    expect(servers).toEqual([{ url: '..' }])
    let windows = 0
    for (const interval of INTERVALS) {
      const dates = get(`start-dates/${interval}`)
      const paths = symbols.flatMap(symbol => dates.map(date => `${interval}/${symbol}/${date}`))
      expect(paths.filter(path => !Array.isArray(get(path)))).toEqual([])
      windows += paths.length
    }
    const server = await TreeServer.start(sandbox.path('tree'))
    server.date = EXCHANGE_NOW
    const args = ['-i', INTERVALS.join(), '-f', 'csv', '-o', '{symbol}-{interval}.csv', '--force']
    const again = ['download', 'all', ...args, '--base-url', server.url, '--mirror', 'copy']
    expect(await sandbox.call(again)).toMatchObject({ code: 0 })
    const files = () => sandbox.files().filter(name => name.endsWith('.csv'))
    const copied = new Map(files().map(name => [name, sandbox.text(name)]))
    // NEWUSDT is too young for a candle of a month.
    for (const interval of INTERVALS) expect(copied.get(`BTCEUR-${interval}.csv`)).toMatch(/\n./)
    for (const name of copied.keys()) rmSync(sandbox.path(name))
    expect(await sandbox.call(['export', 'all', ...args, '--mirror', 'tree'])).toMatchObject({ code: 0 })
    for (const symbol of symbols) expect(copied.get(`${symbol}-1h.csv`)?.length).toBeGreaterThan(2_000)
    expect(files()).toEqual([...copied.keys()])
    for (const [name, content] of copied) expect(sandbox.text(name), name).toBe(content)

    const before = snapshot(sandbox.path('tree'))
    const json = parseObject((await sandbox.call([...PUBLISH, '--json'])).stdout, MirrorPublishSchema)
    expect(json).toMatchObject({ mirror: 'tree', tree: 'tree/api', symbols, windows, emptyWritten: 0, warnings: [] })
    expect(snapshot(sandbox.path('tree'))).toEqual(before)
  })

  it('names missing and corrupt windows with exit code 3, and changes nothing', async () => {
    const { sandbox } = await downloaded('1d')
    rmSync(sandbox.path('tree/api/klines/1d/BTCEUR/2026-01-01.json'))
    sandbox.write('tree/api/klines/1d/NEWUSDT/2026-01-01.json', '[[')
    const before = snapshot(sandbox.folder)
    const run = await sandbox.call(PUBLISH)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(
      /^klines: 2 of \d+ windows are missing or corrupt:\n1 x not in the mirror \(BTCEUR 1d 2026-01-01\)\n1 x corrupt in the mirror: .+ \(NEWUSDT 1d 2026-01-01\)\n {2}Nothing was written\. Download them with klines download, then publish again\.\n$/,
    )
    expect(snapshot(sandbox.folder)).toEqual(before)
  })
})
